"""Runs a program on a pseudo-terminal and answers its prompts.

Standard input is JSON: `argv`, `env`, `cwd`, `answers` ([text to wait for, text to type] pairs), `output` ("pipe": standard
output is read apart from the terminal; "terminal"). Standard output is JSON: `code`, `out`, `terminal`. A program that does not
show what is waited for within a minute is ended.
"""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time

LIMIT_S = 60


def run(settings):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 400, 0, 0))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        os.dup2(slave, 0)
        os.dup2(slave if settings["output"] == "terminal" else writing, 1)
        os.dup2(slave, 2)
        os.closerange(3, 64)
        os.chdir(settings["cwd"])
        os.execvpe(settings["argv"][0], settings["argv"], settings["env"])
    os.close(slave)
    os.close(writing)
    texts = {master: b"", reading: b""}
    answers = list(settings["answers"])
    at = 0
    end = time.monotonic() + LIMIT_S
    open_ends = {master, reading}
    while open_ends:
        left = end - time.monotonic()
        ready = select.select(list(open_ends), [], [], max(left, 0))[0] if left > 0 else []
        if not ready:
            os.kill(child, 9)
            break
        for one in ready:
            try:
                data = os.read(one, 65536)
            except OSError:  # Linux: the other side of the terminal is closed
                data = b""
            if data == b"":
                open_ends.discard(one)
                continue
            texts[one] += data
        while answers:
            found = texts[master].find(answers[0][0].encode(), at)
            if found < 0:
                break
            at = found + len(answers[0][0].encode())
            os.write(master, answers.pop(0)[1].encode() + b"\r")
            end = time.monotonic() + LIMIT_S
    status = os.waitpid(child, 0)[1]
    return {
        "code": os.waitstatus_to_exitcode(status),
        "out": texts[reading].decode(),
        "terminal": texts[master].decode(),
        "unanswered": [prompt for prompt, _ in answers],
    }


json.dump(run(json.load(sys.stdin)), sys.stdout)
