# SPDX-License-Identifier: Apache-2.0
def jobs(out):
    return []
