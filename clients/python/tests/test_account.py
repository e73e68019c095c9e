"""Accounts of a real service, with their keys, templates, usage and plans."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from uuid import uuid4

import pytest

import platen
from callers import Accounts, Caller
from control import Control

PASSWORD = "correct horse battery staple"


def test_an_account_is_registered_renders_what_it_has_saved_and_signs_out(
    accounts: Accounts, client_of: Callable[..., Caller], control: Control
) -> None:
    email = f"{uuid4()}@example.com"
    account = accounts.register(control.url, email=email, password=PASSWORD)
    assert account.me().email == email
    key = account.create_api_key(name="mine", allowed_ips=["127.0.0.0/8"])
    template = account.create_template(name="note", content="<p>Dear {{ name }}</p>", sample_data='{"name":"Ada"}')
    assert client_of(control.url, api_key=key.api_key).render(template_id=template.id, data={"name": "Ada"}).pages == 1
    usage = account.get_usage(period="1d", include_breakdown=True)
    assert (usage.plan, usage.remaining) == ("free", 99)
    assert isinstance(usage.key_breakdown, list)

    changed = account.update_template(template.id, content="<p>new {{ name }}</p>")
    assert (changed.version, changed.name) == (2, "note")
    assert account.preview_template(template_id=template.id).html == "<p>new Ada</p>"
    listed = account.get_templates(limit=5)
    assert isinstance(listed, platen.models.TemplateList)
    assert [(one.id, one.content) for one in listed.templates] == [(template.id, "<p>new {{ name }}</p>")]
    summaries = account.get_templates(view="summary")
    assert isinstance(summaries, platen.models.TemplateSummaryList)
    assert [one.id for one in summaries.templates] == [template.id]
    assert account.delete_template(template.id) is None
    with pytest.raises(platen.NotFoundError):
        account.get_template(template.id)
    with pytest.raises(platen.PermissionDeniedError) as refused:
        account.get_template_versions(template.id)
    assert refused.value.code == "PLAN_LIMIT"

    replaced = account.rotate_api_key(key.id)
    assert account.revoke_api_key(replaced.id).status == "revoked"
    keys = account.get_api_keys(status="revoked", sort="created_asc", limit=10).keys
    assert [one.id for one in keys] == [key.id, replaced.id]
    assert keys[0].revoked_at < datetime.now(timezone.utc)

    again = accounts.sign_in(control.url, email=email, password=PASSWORD)
    assert again.access_token != account.access_token
    assert account.sign_out() is None
    with pytest.raises(platen.AuthenticationError):
        account.me()
    with pytest.raises(platen.AuthenticationError):
        accounts.sign_in(control.url, email=email, password="not this one")
    with pytest.raises(platen.BadRequestError):
        accounts.register(control.url, email="nobody", password=PASSWORD)


def test_an_account_of_a_plan_that_allows_it_has_versions_callbacks_and_logs(
    accounts: Accounts, control: Control
) -> None:
    account = accounts.of_token(control.url, control.new_account("professional").token)
    first = account.create_template(name="note", content="<p>1</p>")
    account.update_template(first.id, content="<p>2</p>")
    assert [one.version for one in account.get_template_versions(first.id).versions] == [2, 1]
    assert account.get_template_version(first.id, first.version_id).content == "<p>1</p>"
    assert account.rollback_template_version(first.id, first.version_id).version == 3
    account.replace_template_draft(first.id, name="note", content="draft")
    assert account.get_template_draft(first.id).draft.content == "draft"
    assert account.publish_template_draft(first.id, message="published").version == 4
    account.delete_template_draft(first.id)

    made = account.rotate_webhook_key()
    assert made.secret.startswith("whsec_")
    assert made.id in [key.id for key in account.get_webhook_keys().keys]
    assert account.get_webhook_deliveries().total == 0
    with pytest.raises(platen.NotFoundError):
        account.redeliver_webhook_delivery(str(uuid4()))

    render = account.create_render(html="<p>x</p>", options={"waitForSelector": "#never", "timeoutMs": 1000})
    assert account.get_render_input(render.job_id).options["waitForSelector"] == "#never"
    assert account.get_render(render.job_id).job_id == render.job_id

    assert account.get_request_logs().can_reveal_ip is True
    assert account.batch_metrics().active_batches == 0
    assert account.get_audit_log(sort="created_desc").entries[0].action == "webhook_key.rotated"
    assert account.get_subscription().plan == "professional"
    assert account.get_invoices(from_="2026-01-01", to="2026-12-31").total == 0
    for unsold in (
        lambda: account.checkout(plan="business"),
        lambda: account.set_auto_overage(enabled=True),
        lambda: account.buy_overage(block_size=1000),
        account.get_billing_portal,
        account.cancel_subscription,
        account.resume_subscription,
        lambda: account.upgrade_preview(plan="business"),
    ):
        with pytest.raises(platen.BadRequestError) as caught:
            unsold()
        assert caught.value.code == "BILLING_NOT_CONFIGURED"
    assert account.request("GET", "/user/templates")["total"] == 1


def test_a_client_of_an_account_needs_a_token() -> None:
    for kind in (platen.AccountClient, platen.AsyncAccountClient):
        with pytest.raises(ValueError, match="access_token"):
            kind("http://localhost:8080", access_token=" ")
