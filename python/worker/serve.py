# SPDX-License-Identifier: Apache-2.0
"""The process that neuron-check talks to. It imports neither torch nor the backend: those live in children, one for each batch."""
import os
import sys
import time

from . import case_text, environment, frames
from .isolated import Child

PROTOCOL = 1
START_SECONDS = 45  # from the start of a child to the backend being there; neuron-check waits 60 s for the handshake
# neuron-check gives one request a minute beyond what its cases may take. A child that starts must fit what is left of it.
STARTING_SECONDS = 10
TABLE_SECONDS = 120
UNKNOWN = dict.fromkeys(("torch", "module_version", "backend", "compiler", "runtime", "driver", "chip"), "unknown")


def start_seconds():
    """Fewer than START_SECONDS where NEURON_CHECK_START_SECONDS says so."""
    text = os.environ.get("NEURON_CHECK_START_SECONDS", "")
    return min(START_SECONDS, int(text)) if text.isdecimal() else START_SECONDS


class Worker:
    def __init__(self, module):
        self._module = module
        self._replaced = environment.make_strict()
        self._idle = None  # a child that has the backend and has not run anything
        self.unavailable = None

    def handshake(self):
        facts = {**UNKNOWN, "device_count": 0, "fork_safe": False, "simulated": False}
        self._idle, told = self._start()
        if self._idle:
            facts.update(told)
        else:
            self.unavailable = facts["unavailable"] = told
        self._simulated = facts["simulated"]
        return {
            "protocol": PROTOCOL,
            "program": "neuron-check python/worker",
            "module": self._module,
            "interpreter": sys.executable,
            **facts,
            "environment": environment.recorded(),
            "environment_replaced": self._replaced,
            "landlock": 0,
        }

    def _start(self):
        """(child, what it says of its backend), or (None, what is missing)."""
        child, stage, seconds = Child(self._module), "starting the interpreter", start_seconds()
        deadline = time.monotonic() + seconds
        while (message := child.receive(deadline - time.monotonic())) is not None:
            if "ready" in message:
                return child, message["ready"]
            if "unavailable" in message:
                child.finish()
                return None, message["unavailable"]
            stage = message["stage"]
        ending = child.finish()
        how = f"took more than {seconds} s" if child.late else f"ended the process ({ending or 'exit code 0'})"
        printed = child.tail().strip()
        return None, f"{self._module}: {stage} {how}" + (f"; it printed: {printed}" if printed else "")

    def _fresh(self):
        """A child for one batch. A device may need a moment until it can be had again."""
        if self._idle:
            child, self._idle = self._idle, None
            return child, None
        child, told = self._start()
        if child is None and "took more than" not in told:
            time.sleep(1)
            child, told = self._start()
        return child, told

    def close(self):
        if self._idle:
            self._idle.late = True  # there is nothing to wait for
            self._idle.finish()

    def answer(self, request):
        what = request.get("do") if isinstance(request, dict) else None
        if self.unavailable:
            return {"unavailable": self.unavailable}
        try:
            if what == "run_cases":
                return self._run_cases(request)
            if what == "dispatch_table":
                return self._dispatch_table()
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            return {"error": f"the request makes no sense: {type(error).__name__}: {error}"}
        except OSError as error:
            return {"error": str(error)}
        return {"error": f"this worker runs cases and lists dispatching; it knows no '{what}'"}

    def _dispatch_table(self):
        child, told = self._fresh()
        if child is None:
            return {"unavailable": told}
        child.send({"do": "dispatch_table"})
        message = child.receive(TABLE_SECONDS)
        ending = child.finish()
        if message is None:
            return {"unavailable": f"listing the dispatch table ended the process: {ending}", "stderr": child.tail()}
        return {**message["answer"], "simulated": self._simulated}

    def _run_cases(self, request):
        with open(request["arena"], "r+b") as file:
            if not 0 <= request["begin"] <= request["end"] <= os.fstat(file.fileno()).st_size:
                return {"error": f"{request['arena']}: not the memory that was promised"}
        batch = Batch(request)
        starting = 0.0
        while batch.open and "ended" not in batch.answer:
            if starting > STARTING_SECONDS and batch.given:
                break  # those without an answer are asked for again
            began = time.monotonic()
            child, told = self._fresh()
            starting += time.monotonic() - began
            if child is None:
                return {"unavailable": told}
            batch.run(child)
        batch.answer["cases"] = batch.answers
        batch.answer["simulated"] = self._simulated
        return batch.answer


class Batch:
    """The cases of one request and what became of them."""

    def __init__(self, request):
        self._arena = {"arena": request["arena"], "begin": request["begin"], "end": request["end"]}
        self._seconds = max(1, request.get("case_seconds", 60))
        self.answer, self.answers, self.open, self.given = {}, [], [], 0
        for index, entry in enumerate(request["cases"]):
            self.answers.append({"id": entry["id"]})
            try:
                negative = case_text.parse(entry["case"]).error is not None
            except case_text.CaseError as error:
                message = f"the case cannot be read: {error}"
                self.answers[-1]["raised"] = {"kind": "argument", "message": message, "stage": "arguments"}
                continue
            job = {"case": entry["case"], "operands": entry["operands"], "cotangents": entry.get("cotangents", [])}
            self.open.append((index, negative, job))

    def _next_group(self):
        """Cases for one process. One that expects an error is alone: what failed to compile once may fail what follows."""
        count = 1
        if not self.open[0][1]:
            count = next((i for i, (_, negative, _) in enumerate(self.open) if negative), len(self.open))
        return self.open[:count]

    def run(self, child):
        """Runs the next group, as far as it comes, and ends the child."""
        group = self._next_group()
        child.send({**self._arena, "cases": [job for _, _, job in group]})
        finished = False
        for index, _, _ in group:
            message = child.receive(self._seconds)
            if message is None:
                break
            self.answers[index].update(message["answer"])
            self._arena["begin"] = min(message["next"], self._arena["end"])
            self.open.pop(0)
            self.given += 1
            finished = message["last"] or index == group[-1][0]
            if finished:
                break
        ending = child.finish()
        if not finished:
            ending = f"no answer in {self._seconds} s" if child.late else ending
            self.answer["ended"] = ending or "it ended without an answer"
            self.answer["culprit"] = self.open[0][0]
        if printed := child.tail():
            self.answer["stderr"] = printed


def main(module):
    # Answers go to a descriptor of their own: what prints must not spoil the stream.
    output = os.dup(1)
    os.dup2(2, 1)
    worker = Worker(module)
    try:
        frames.write(output, worker.handshake())
        while (request := frames.read(0)) is not None:
            if isinstance(request, dict) and request.get("do") == "quit":
                break
            frames.write(output, worker.answer(request))
    except (frames.Broken, BrokenPipeError) as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        worker.close()
    return 0
