from django.urls import path

from views import Invoice, callback

urlpatterns = [
    path("invoices/<int:number>", Invoice.as_view()),
    path("callbacks", callback),
]
