# Made by `make generate` from _async/account_routes.py; do not edit.
# Made by `make generate` from docs/openapi.json; do not edit.
"""A method for each route that takes an access token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

from .._decoding import decoded, decoded_first
from ..models import (
    AcceptedUserRender,
    Account,
    ApiKey,
    ApiKeyList,
    AuditLog,
    BatchMetrics,
    Checkout,
    HostedPage,
    InvoiceList,
    ItemStatus,
    JobRecord,
    JobStatus,
    NewApiKey,
    NewWebhookKey,
    PlanList,
    Preview,
    Queue,
    RenderInput,
    RenderOptions,
    RenderReport,
    RequestLogList,
    RetriedBatch,
    SessionList,
    Subscription,
    Template,
    TemplateList,
    TemplateSummaryList,
    TemplateVersion,
    TemplateVersionList,
    UpgradePreview,
    UsageSeries,
    UsageSummary,
    UserBatch,
    UserBatchItemList,
    UserBatchList,
    UserRenderDetail,
    UserRenderList,
    WebhookDelivery,
    WebhookDeliveryDetail,
    WebhookDeliveryList,
    WebhookKeyList,
)
from .transport import Response


class AccountRoutes:
    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Response:
        raise NotImplementedError

    def batch_metrics(
        self,
        *,
        period: Literal["1d", "7d", "30d", "90d"] | None = None,
    ) -> BatchMetrics:
        """Get the metrics of the batches of the account.

        Args:
            period: How far back; counted from the start of the hour.
        """
        response = self._send(
            "GET",
            "/user/batches/metrics",
            query={"period": period},
        )
        return decoded(BatchMetrics, response.body)

    def buy_overage(
        self,
        *,
        block_size: Literal[1000, 5000, 10000],
    ) -> HostedPage:
        """Buy one block of PDFs beyond the quota. Its PDFs can be used once it is paid, until
        the end of the next period. Asked again while the page is open, it is the same page;
        it is closed when a block of another size is asked for.

        Args:
            block_size: PDFs of the block.
        """
        response = self._send(
            "POST",
            "/user/overage",
            body={"blockSize": block_size},
        )
        return decoded(HostedPage, response.body)

    def cancel_batch(
        self,
        batch_id: str,
    ) -> UserBatch:
        """Cancel a batch. Items that no worker has begun are cancelled; those that run are left
        to end."""
        response = self._send(
            "DELETE",
            f"/user/batches/{quote(batch_id, safe='')}",
        )
        return decoded(UserBatch, response.body)

    def cancel_render(
        self,
        render_id: str,
    ) -> JobRecord:
        """Cancel a render. One that is running is stopped."""
        response = self._send(
            "DELETE",
            f"/user/renders/{quote(render_id, safe='')}",
        )
        return decoded(JobRecord, response.body)

    def cancel_subscription(
        self,
    ) -> Subscription:
        """End the subscription with its period. Until then everything stays as it is, and it can
        be resumed. A plan that was to follow does not."""
        response = self._send(
            "POST",
            "/user/subscription/cancel",
        )
        return decoded(Subscription, response.body)

    def checkout(
        self,
        *,
        plan: Literal["starter", "professional", "business"],
    ) -> Checkout:
        """Change to a paid plan. Without a subscription `url` is the page where it is paid. A
        higher plan than that of the running one is charged for at once, and in force when
        that is paid: `url` is empty then, or the page where the bank wants to see the
        customer. A lower one begins with the next period, and `url` is empty. Where a payment
        is owed, `url` is the page where that is put right.

        Args:
            plan: The name of the plan.
        """
        response = self._send(
            "POST",
            "/user/checkout",
            body={"plan": plan},
        )
        return decoded(Checkout, response.body)

    def create_api_key(
        self,
        *,
        name: str,
        mode: Literal["live", "test"] | None = None,
        allowed_ips: Sequence[str] | None = None,
    ) -> NewApiKey:
        """Make an API key.

        Args:
            name: Its name.
            mode: Renders of `test` keys carry a watermark and use no quota.
            allowed_ips: Addresses and networks that the key may be used from; none: from
                everywhere.
        """
        response = self._send(
            "POST",
            "/user/api-keys",
            body={"name": name, "mode": mode, "allowedIps": allowed_ips},
        )
        return decoded(NewApiKey, response.body)

    def create_render(
        self,
        *,
        html: str | None = None,
        url: str | None = None,
        template_id: str | None = None,
        template_version_id: str | None = None,
        data: Mapping[str, Any] | None = None,
        output: Literal["binary", "url"] | None = None,
        filename: str | None = None,
        execution_mode: Literal["sync", "async"] | None = None,
        webhook_url: str | None = None,
        report: bool | None = None,
        strict_data: bool | None = None,
        options: RenderOptions | None = None,
        mode: Literal["live", "test"] | None = None,
    ) -> AcceptedUserRender:
        """Render one document, without an API key. Answered at once; follow the job. It goes
        before those that are asked for with `executionMode` = `async`.

        Args:
            html: Input source: an HTML document.
            url: Input source: the http or https address of a page.
            template_id: Input source: a saved template of the account.
            template_version_id: Pins a version of the template; otherwise its current one
                is used.
            data: Values of the template's variables.
            output: `binary` responds with the PDF, `url` with a signed address to
                download it from.
            filename: Name of the PDF file.
            execution_mode: `sync` waits a while for the render to end; `async` responds
                with 202 at once.
            webhook_url: Where a signed callback goes when the render has ended, with
                `executionMode` = `async`; professional and business plans.
            report: The same as `report` of the options, before which it comes.
            strict_data: The same as `strictData` of the options, before which it comes.
            mode: As an API key of this mode would ask for it.
        """
        response = self._send(
            "POST",
            "/user/renders",
            body={"html": html, "url": url, "templateId": template_id, "templateVersionId": template_version_id, "data": data, "output": output, "filename": filename, "executionMode": execution_mode, "webhookUrl": webhook_url, "report": report, "strictData": strict_data, "options": options, "mode": mode},
        )
        return decoded(AcceptedUserRender, response.body)

    def create_template(
        self,
        *,
        name: str,
        content: str,
        sample_data: str | None = None,
        data_schema: Any | None = None,
        options: RenderOptions | None = None,
    ) -> Template:
        """Save a new template. An account may have 1000 templates.

        Args:
            name: Its name.
            content: HTML with Liquid: `{{name}}`, `{{a.b}}`, loops, conditions, filters.
            sample_data: A JSON document serialized as a string.
            data_schema: A JSON Schema of draft 2020-12 that the data of each render must
                fit, as an object or serialized as a string; null for none.
            options: Options of each render of the template; those of the render itself
                come first. All but `assetHeaders` and `cookies`; null for none.
        """
        response = self._send(
            "POST",
            "/user/templates",
            body={"name": name, "content": content, "sampleData": sample_data, "dataSchema": data_schema, "options": options},
        )
        return decoded(Template, response.body)

    def delete_template(
        self,
        template_id: str,
    ) -> None:
        """Delete a template and its versions. Jobs that were accepted before are rendered all
        the same."""
        self._send(
            "DELETE",
            f"/user/templates/{quote(template_id, safe='')}",
        )

    def end_session(
        self,
        session_id: str,
    ) -> None:
        """End a session of the account."""
        self._send(
            "DELETE",
            f"/auth/sessions/{quote(session_id, safe='')}",
        )

    def get_api_keys(
        self,
        *,
        status: Literal["active", "revoked"] | None = None,
        mode: Literal["live", "test"] | None = None,
        sort: Literal["last_used_desc", "last_used_asc", "created_desc", "created_asc", "name_asc", "name_desc"] | None = None,
        limit: int | None = None,
        offset: int | None = None,
    ) -> ApiKeyList:
        """List the API keys of the account.

        Args:
            status: Only keys in this state.
            mode: Only keys of this mode.
            limit: How many to return.
            offset: How many to skip.
        """
        response = self._send(
            "GET",
            "/user/api-keys",
            query={"status": status, "mode": mode, "sort": sort, "limit": limit, "offset": offset},
        )
        return decoded(ApiKeyList, response.body)

    def get_audit_log(
        self,
        *,
        action: Literal["account.registered", "account.signed_in", "account.sign_in_failed", "account.signed_out", "account.plan_changed", "account.quota_period_changed", "account.password_reset", "account.tokens_revoked", "account.address_confirmed", "account.taken_over", "account.suspended", "account.resumed", "account.deletion_requested", "account.deleted", "billing.auto_overage_changed", "billing.block_granted", "billing.block_frozen", "billing.block_taken_back", "billing.block_returned", "billing.block_expired", "key.created", "key.rotated", "key.changed", "key.revoked", "webhook_key.rotated", "template.saved", "template.deleted", "job.retried", "job.cancelled", "callback.retried", "mail.retried", "billing.retried", "worker.drained", "worker.resumed", "audit.entries_left_out"] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_desc", "created_asc"] | None = None,
    ) -> AuditLog:
        """List what was done to the account. Sign-ins, keys, templates, changes of the account
        itself and what was bought for it, for 400 days. Of what is done more than 500 times
        in a day (UTC), `audit.entries_left_out` says how many were left out.

        Args:
            action: Only entries of this kind.
            limit: How many to return.
            offset: How many to skip.
        """
        response = self._send(
            "GET",
            "/user/audit-log",
            query={"action": action, "limit": limit, "offset": offset, "sort": sort},
        )
        return decoded(AuditLog, response.body)

    def get_batch(
        self,
        batch_id: str,
    ) -> UserBatch:
        """Get a batch of the account, without its items."""
        response = self._send(
            "GET",
            f"/user/batches/{quote(batch_id, safe='')}",
        )
        return decoded(UserBatch, response.body)

    def get_batch_items(
        self,
        batch_id: str,
        *,
        status: ItemStatus | None = None,
        limit: int | None = None,
        offset: int | None = None,
    ) -> UserBatchItemList:
        """List the items of a batch.

        Args:
            status: Only items in this state.
            limit: How many to return.
            offset: How many to skip.
        """
        response = self._send(
            "GET",
            f"/user/batches/{quote(batch_id, safe='')}/items",
            query={"status": status, "limit": limit, "offset": offset},
        )
        return decoded(UserBatchItemList, response.body)

    def get_batches(
        self,
        *,
        status: JobStatus | None = None,
        mode: Literal["live", "test"] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_desc", "created_asc"] | None = None,
    ) -> UserBatchList:
        """List the batches of the account. Those of live and of test keys.

        Args:
            status: Only batches in this state.
            mode: Only those of live keys, or of test keys.
            limit: How many to return.
            offset: How many to skip.
        """
        response = self._send(
            "GET",
            "/user/batches",
            query={"status": status, "mode": mode, "limit": limit, "offset": offset, "sort": sort},
        )
        return decoded(UserBatchList, response.body)

    def get_billing_portal(
        self,
    ) -> HostedPage:
        """Open the pages for cards, addresses and receipts."""
        response = self._send(
            "GET",
            "/user/billing-portal",
        )
        return decoded(HostedPage, response.body)

    def get_invoices(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        status: Literal["all", "draft", "open", "paid", "void"] | None = None,
        search: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        sort: Literal["created_desc", "created_asc", "amount_paid_desc", "amount_paid_asc", "number_desc", "number_asc", "status_desc", "status_asc"] | None = None,
    ) -> InvoiceList:
        """List the invoices of the account.

        Args:
            limit: How many to return.
            offset: How many to skip.
            search: Part of the number, in either case.
            from_: Only what was made then or later.
            to: Only what was made before that.
        """
        response = self._send(
            "GET",
            "/user/invoices",
            query={"limit": limit, "offset": offset, "status": status, "search": search, "from": from_, "to": to, "sort": sort},
        )
        return decoded(InvoiceList, response.body)

    def get_plans(
        self,
    ) -> PlanList:
        """List the plans that the account has and can choose from."""
        response = self._send(
            "GET",
            "/user/plans",
        )
        return decoded(PlanList, response.body)

    def get_queue(
        self,
    ) -> Queue:
        """Get how many jobs of the account run and wait."""
        response = self._send(
            "GET",
            "/user/queue",
        )
        return decoded(Queue, response.body)

    def get_render(
        self,
        render_id: str,
    ) -> UserRenderDetail:
        """Get a render of the account, with its attempts."""
        response = self._send(
            "GET",
            f"/user/renders/{quote(render_id, safe='')}",
        )
        return decoded(UserRenderDetail, response.body)

    def get_render_input(
        self,
        render_id: str,
    ) -> RenderInput:
        """Get what a render was to render. It is kept until the render has completed; of one
        that has failed, until its retention ends."""
        response = self._send(
            "GET",
            f"/user/renders/{quote(render_id, safe='')}/input",
        )
        return decoded(RenderInput, response.body)

    def get_render_report(
        self,
        render_id: str,
    ) -> RenderReport:
        """Get the report of a render. What the document requested and what became of it,
        console, exceptions, fonts, characters without a font, waits, and warnings in plain
        words; of a render that is lost with its worker, its attempts alone. A render that was
        asked for with `report` has one from its end on, for as long as its job is kept."""
        response = self._send(
            "GET",
            f"/user/renders/{quote(render_id, safe='')}/report",
        )
        return decoded(RenderReport, response.body)

    def get_renders(
        self,
        *,
        status: JobStatus | None = None,
        mode: Literal["live", "test"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_desc", "created_asc"] | None = None,
    ) -> UserRenderList:
        """List the single renders of the account. Those of live and of test keys, and those that
        were asked for from the dashboard.

        Args:
            status: Only jobs in this state.
            mode: Only those of live keys, or of test keys.
            from_: Only what was accepted then or later.
            to: Only what was accepted before that.
            limit: How many to return.
            offset: How many to skip.
        """
        response = self._send(
            "GET",
            "/user/renders",
            query={"status": status, "mode": mode, "from": from_, "to": to, "limit": limit, "offset": offset, "sort": sort},
        )
        return decoded(UserRenderList, response.body)

    def get_request_logs(
        self,
        *,
        period: Literal["1d", "7d", "30d", "90d"] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_desc", "created_asc"] | None = None,
        api_key_id: str | None = None,
        status: Literal["success", "error"] | None = None,
        endpoint: str | None = None,
    ) -> RequestLogList:
        """List the requests for renders that the account has made. With `status` or `endpoint`,
        a page may end before its limit where such requests are rare: the next one begins at
        `offset` plus the number that came.

        Args:
            period: How far back; counted from the start of the hour.
            limit: How many to return.
            offset: How many to skip.
            api_key_id: Only requests with this key.
            status: Only those that ended so.
            endpoint: Only those of this route, as `endpointOptions` names it.
        """
        response = self._send(
            "GET",
            "/user/request-logs",
            query={"period": period, "limit": limit, "offset": offset, "sort": sort, "apiKeyId": api_key_id, "status": status, "endpoint": endpoint},
        )
        return decoded(RequestLogList, response.body)

    def get_sessions(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
    ) -> SessionList:
        """List the sessions of the account. The newest first. Access tokens of POST /auth/login
        are no sessions.

        Args:
            limit: How many to return.
            offset: How many to skip.
        """
        response = self._send(
            "GET",
            "/auth/sessions",
            query={"limit": limit, "offset": offset},
        )
        return decoded(SessionList, response.body)

    def get_subscription(
        self,
    ) -> Subscription:
        """Get the subscription of the account."""
        response = self._send(
            "GET",
            "/user/subscription",
        )
        return decoded(Subscription, response.body)

    def get_template(
        self,
        template_id: str,
    ) -> Template:
        """Get a template."""
        response = self._send(
            "GET",
            f"/user/templates/{quote(template_id, safe='')}",
        )
        return decoded(Template, response.body)

    def get_template_version(
        self,
        template_id: str,
        version_id: str,
    ) -> TemplateVersion:
        """Get one version of a template. For plans with version history."""
        response = self._send(
            "GET",
            f"/user/templates/{quote(template_id, safe='')}/versions/{quote(version_id, safe='')}",
        )
        return decoded(TemplateVersion, response.body)

    def get_template_versions(
        self,
        template_id: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
    ) -> TemplateVersionList:
        """List the versions of a template. Newest first; for plans with version history.

        Args:
            limit: How many to return.
            offset: How many to skip.
        """
        response = self._send(
            "GET",
            f"/user/templates/{quote(template_id, safe='')}/versions",
            query={"limit": limit, "offset": offset},
        )
        return decoded(TemplateVersionList, response.body)

    def get_templates(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        view: Literal["full", "summary"] | None = None,
        search: str | None = None,
    ) -> TemplateList | TemplateSummaryList:
        """List the templates of the account. Newest first. A page of very large templates ends
        before its limit: the next one begins at `offset` plus the number that came.

        Args:
            limit: How many to return.
            offset: How many to skip.
            view: `summary` leaves content, sample data, schema and options out.
            search: Part of the name, in either case; with `view` = `summary`.
        """
        response = self._send(
            "GET",
            "/user/templates",
            query={"limit": limit, "offset": offset, "view": view, "search": search},
        )
        result: TemplateList | TemplateSummaryList = decoded_first((TemplateList, TemplateSummaryList), response.body)
        return result

    def get_usage(
        self,
        *,
        period: Literal["1d", "7d", "30d", "90d"] | None = None,
        include_breakdown: bool | None = None,
    ) -> UsageSummary:
        """Get the usage summary of the account.

        Args:
            period: How far back; counted from the start of the hour.
            include_breakdown: `true` adds what each API key was used for.
        """
        response = self._send(
            "GET",
            "/user/usage",
            query={"period": period, "includeBreakdown": include_breakdown},
        )
        return decoded(UsageSummary, response.body)

    def get_usage_series(
        self,
        *,
        period: Literal["1d", "7d", "30d", "90d"] | None = None,
        interval: Literal["hour", "day"] | None = None,
        api_key_id: str | None = None,
    ) -> UsageSeries:
        """Get the usage of the account over time.

        Args:
            period: How far back; counted from the start of the hour.
            interval: `hour` with a period of 7 days at the most.
            api_key_id: Only requests with this key.
        """
        response = self._send(
            "GET",
            "/user/usage/series",
            query={"period": period, "interval": interval, "apiKeyId": api_key_id},
        )
        return decoded(UsageSeries, response.body)

    def get_webhook_deliveries(
        self,
        *,
        status: Literal["pending", "delivered", "failed"] | None = None,
        job_id: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_desc", "created_asc"] | None = None,
    ) -> WebhookDeliveryList:
        """List the callbacks of the account. What was sent, is being sent and could not be sent,
        for 90 days.

        Args:
            status: Only callbacks in this state.
            job_id: Only that of this job or batch.
            limit: How many to return.
            offset: How many to skip.
        """
        response = self._send(
            "GET",
            "/user/webhook-deliveries",
            query={"status": status, "jobId": job_id, "limit": limit, "offset": offset, "sort": sort},
        )
        return decoded(WebhookDeliveryList, response.body)

    def get_webhook_delivery(
        self,
        webhook_delivery_id: str,
    ) -> WebhookDeliveryDetail:
        """Get a callback with what it says and the attempts to send it."""
        response = self._send(
            "GET",
            f"/user/webhook-deliveries/{quote(webhook_delivery_id, safe='')}",
        )
        return decoded(WebhookDeliveryDetail, response.body)

    def get_webhook_keys(
        self,
    ) -> WebhookKeyList:
        """List the keys that sign callbacks."""
        response = self._send(
            "GET",
            "/user/webhook-keys",
        )
        return decoded(WebhookKeyList, response.body)

    def me(
        self,
    ) -> Account:
        """Get the account that is signed in."""
        response = self._send(
            "GET",
            "/auth/me",
        )
        return decoded(Account, response.body)

    def password(
        self,
        *,
        current_password: str,
        new_password: str,
    ) -> None:
        """Change the password. Ends every other session, and all access tokens. The session that
        this comes with goes on under a new cookie.

        Args:
            current_password: The password until now.
            new_password: The password from now on.
        """
        self._send(
            "POST",
            "/auth/password",
            body={"currentPassword": current_password, "newPassword": new_password},
        )

    def preview_template(
        self,
        *,
        content: str | None = None,
        template_id: str | None = None,
        sample_data: str | None = None,
        data_schema: Any | None = None,
        output: Literal["html", "pdf"] | None = None,
        options: RenderOptions | None = None,
    ) -> Preview | AcceptedUserRender:
        """Show what a template and data come to: the HTML, or with `output` = `pdf` a test
        render.

        Args:
            content: HTML with Liquid: `{{name}}`, `{{a.b}}`, loops, conditions, filters.
            template_id: A saved template instead of `content`.
            sample_data: A JSON document serialized as a string; without it that of the
                saved template, or nothing.
            data_schema: Checks the sample data, as `dataSchema` of a template does;
                without it, and with `templateId`, that of the saved template.
            output: `pdf` renders the HTML as a test key would: it counts as a test
                render, and is followed as one.
            options: Of the PDF; `locale`, `timezone` and `strictData` also of the HTML.
                With `templateId` those of the saved template come after them.
        """
        response = self._send(
            "POST",
            "/user/templates/preview",
            body={"content": content, "templateId": template_id, "sampleData": sample_data, "dataSchema": data_schema, "output": output, "options": options},
        )
        result: Preview | AcceptedUserRender = decoded_first((Preview, AcceptedUserRender), response.body)
        return result

    def redeliver_webhook_delivery(
        self,
        webhook_delivery_id: str,
    ) -> WebhookDelivery:
        """Send a callback again. It begins anew, at once and with all its attempts, under the
        same id, whatever became of it before."""
        response = self._send(
            "POST",
            f"/user/webhook-deliveries/{quote(webhook_delivery_id, safe='')}/redeliver",
        )
        return decoded(WebhookDelivery, response.body)

    def resume_subscription(
        self,
    ) -> Subscription:
        """Take back the end of the subscription."""
        response = self._send(
            "POST",
            "/user/subscription/resume",
        )
        return decoded(Subscription, response.body)

    def retry_failed_batch(
        self,
        batch_id: str,
    ) -> RetriedBatch:
        """Render again the items of a batch that have failed or were cancelled. They are a new
        batch under the present plan, which uses quota as any other. The old one stays as it
        is."""
        response = self._send(
            "POST",
            f"/user/batches/{quote(batch_id, safe='')}/retry-failed",
        )
        return decoded(RetriedBatch, response.body)

    def retry_render(
        self,
        render_id: str,
    ) -> AcceptedUserRender:
        """Render again what has failed or was cancelled. It is a new job under the present plan,
        which uses quota as any other. The old one stays as it is."""
        response = self._send(
            "POST",
            f"/user/renders/{quote(render_id, safe='')}/retry",
        )
        return decoded(AcceptedUserRender, response.body)

    def revoke_api_key(
        self,
        api_key_id: str,
    ) -> ApiKey:
        """Revoke an API key. It stops working everywhere within a second. Doing it again changes
        nothing."""
        response = self._send(
            "DELETE",
            f"/user/api-keys/{quote(api_key_id, safe='')}",
        )
        return decoded(ApiKey, response.body)

    def rollback_template_version(
        self,
        template_id: str,
        version_id: str,
    ) -> Template:
        """Save an old version of a template anew. The template gets a new version that is as the
        old one was; for plans with version history."""
        response = self._send(
            "POST",
            f"/user/templates/{quote(template_id, safe='')}/versions/{quote(version_id, safe='')}/rollback",
        )
        return decoded(Template, response.body)

    def rotate_api_key(
        self,
        api_key_id: str,
    ) -> NewApiKey:
        """Replace an API key by a new one. The new key has the name, mode and allowed addresses
        of the old one, which is revoked. It needs no spare capacity."""
        response = self._send(
            "POST",
            f"/user/api-keys/{quote(api_key_id, safe='')}/rotate",
        )
        return decoded(NewApiKey, response.body)

    def rotate_webhook_key(
        self,
    ) -> NewWebhookKey:
        """Make a new key that signs callbacks. The first secret of an account is got this way,
        too. The key before signs beside the new one for 24 hours."""
        response = self._send(
            "POST",
            "/user/webhook-keys/rotate",
        )
        return decoded(NewWebhookKey, response.body)

    def set_auto_overage(
        self,
        *,
        enabled: bool,
        block_size: Literal[1000, 5000, 10000] | None = None,
        spend_cap_cents: int | None = None,
    ) -> Subscription:
        """Let blocks be bought when the quota is used up, or no longer. What is not given stays
        as it was; at first the smallest block, and a cap that one block fits under. The cap
        holds for one billing period.

        Args:
            enabled: Whether it is switched on.
            block_size: PDFs of a block.
            spend_cap_cents: US cents in one billing period.
        """
        response = self._send(
            "POST",
            "/user/subscription/auto-overage",
            body={"enabled": enabled, "blockSize": block_size, "spendCapCents": spend_cap_cents},
        )
        return decoded(Subscription, response.body)

    def sign_out(
        self,
    ) -> None:
        """Revoke the access token that this request comes with."""
        self._send(
            "POST",
            "/auth/logout",
        )

    def test_webhook_delivery(
        self,
        *,
        url: str,
    ) -> WebhookDelivery:
        """Send a callback that tells of nothing. Signed and repeated as any other, with the
        event `webhook.test`: to see whether they arrive.

        Args:
            url: Where it goes.
        """
        response = self._send(
            "POST",
            "/user/webhook-deliveries/test",
            body={"url": url},
        )
        return decoded(WebhookDelivery, response.body)

    def update_api_key(
        self,
        api_key_id: str,
        *,
        name: str | None = None,
        allowed_ips: Sequence[str] | None = None,
    ) -> ApiKey:
        """Change the name of an API key, or where it may be used from. In force everywhere
        within a second. Fields that are left out stay as they are.

        Args:
            name: Its name.
            allowed_ips: Addresses and networks that the key may be used from; none: from
                everywhere.
        """
        response = self._send(
            "PATCH",
            f"/user/api-keys/{quote(api_key_id, safe='')}",
            body={"name": name, "allowedIps": allowed_ips},
        )
        return decoded(ApiKey, response.body)

    def update_template(
        self,
        template_id: str,
        *,
        name: str | None = None,
        content: str | None = None,
        sample_data: str | None = None,
        data_schema: Any | None = None,
        options: RenderOptions | None = None,
    ) -> Template:
        """Change a template. Saves a new version; fields that are left out stay as they are. The
        latest 1000 versions of a template are kept, of plans without version history the
        latest one alone: an older one can no longer be pinned or rolled back to.

        Args:
            name: Its name.
            content: HTML with Liquid: `{{name}}`, `{{a.b}}`, loops, conditions, filters.
            sample_data: A JSON document serialized as a string.
            data_schema: A JSON Schema of draft 2020-12 that the data of each render must
                fit, as an object or serialized as a string; null for none.
            options: Options of each render of the template; those of the render itself
                come first. All but `assetHeaders` and `cookies`; null for none.
        """
        response = self._send(
            "PATCH",
            f"/user/templates/{quote(template_id, safe='')}",
            body={"name": name, "content": content, "sampleData": sample_data, "dataSchema": data_schema, "options": options},
        )
        return decoded(Template, response.body)

    def upgrade_preview(
        self,
        *,
        plan: Literal["free", "starter", "professional", "business"],
    ) -> UpgradePreview:
        """Say what changing to a higher plan would cost now. The change itself costs the same
        for half an hour."""
        response = self._send(
            "GET",
            "/user/subscription/upgrade-preview",
            query={"plan": plan},
        )
        return decoded(UpgradePreview, response.body)

    def verification_email(
        self,
    ) -> None:
        """Ask for a link that confirms the address of the account. Three an hour are sent. A
        link works once, for a day."""
        self._send(
            "POST",
            "/auth/email/verification",
        )
