"""The smallest project that has the views: `python manage.py runserver`. A project of yours has settings of its own."""

import sys

from django.conf import settings
from django.core.management import execute_from_command_line

settings.configure(ALLOWED_HOSTS=["localhost", "127.0.0.1"], ROOT_URLCONF="urls", SECRET_KEY="an example has no secrets")
execute_from_command_line(sys.argv)
