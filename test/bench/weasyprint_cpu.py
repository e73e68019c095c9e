"""Prints the milliseconds of processor time that WeasyPrint needs for one PDF of a file: FILE SECONDS."""

import sys
import time

from weasyprint import HTML

with open(sys.argv[1], encoding="utf-8") as file:
    html = file.read()
seconds = float(sys.argv[2])

HTML(string=html).write_pdf()
pdfs = 0
begun = time.process_time()
while pdfs == 0 or time.process_time() - begun < seconds:
    assert HTML(string=html).write_pdf()
    pdfs += 1
print((time.process_time() - begun) * 1000 / pdfs)
