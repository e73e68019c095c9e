"""Runs a command in a terminal of its own, which is closed when stdin ends. Prints the pid, then how it ended."""

import os, pty, select, sys

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
print(pid, flush=True)
while True:
    readable, _, _ = select.select([terminal, 0], [], [])
    if 0 in readable and os.read(0, 1024) == b"":
        break
    try:
        if terminal in readable and os.read(terminal, 65536) == b"":
            break
    except OSError:
        break
os.close(terminal)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
