# Made by `make generate` from docs/openapi.json; do not edit.
"""A method for each route that takes an access token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

from .._decoding import decoded, decoded_first
from ..models import (
    AcceptedBatch,
    AcceptedUserRender,
    Account,
    AddedPasskey,
    Alerts,
    ApiKey,
    ApiKeyList,
    AuditLog,
    BatchItemInput,
    BatchMetrics,
    BatchSourceInput,
    BatchUpload,
    BegunPasskey,
    BegunSecondFactor,
    Bill,
    Checkout,
    ErrorCode,
    HostedPage,
    InvoiceList,
    ItemStatus,
    JobRecord,
    JobStatus,
    LoggedRequest,
    Member,
    MemberList,
    NewApiKey,
    NewSession,
    NewWebhookKey,
    Notifications,
    OveragePrices,
    OwnAccountList,
    Passkey,
    PasskeyCredential,
    PasskeyList,
    PlanList,
    Preview,
    Queue,
    RecoveryCodes,
    RedeliveredWebhooks,
    RenderInput,
    RenderOptions,
    RenderReport,
    RequestLogList,
    RetriedBatch,
    SecondFactor,
    SessionList,
    SharedLink,
    SharedLinks,
    SignInDomain,
    SignInDomainList,
    Subscription,
    TeamInvitation,
    Template,
    TemplateDraftResponse,
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


class AsyncAccountRoutes:
    async def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Response:
        raise NotImplementedError

    async def batch_metrics(
        self,
        *,
        period: Literal["1d", "7d", "30d", "90d"] | None = None,
    ) -> BatchMetrics:
        """Get the metrics of the batches of the account.

        Args:
            period: How far back, from the start of the hour.
        """
        response = await self._send(
            "GET",
            "/user/batches/metrics",
            query={"period": period},
        )
        return decoded(BatchMetrics, response.body)

    async def buy_overage(
        self,
        *,
        block_size: Literal[1000, 5000, 10000],
    ) -> HostedPage:
        """Buy one block of PDFs beyond the quota. Its PDFs can be used from the payment until
        the end of the next period. While the payment page is open, the same request returns
        the same page; a request for a block of another size closes it.

        Args:
            block_size: PDFs of the block.
        """
        response = await self._send(
            "POST",
            "/user/overage",
            body={"blockSize": block_size},
        )
        return decoded(HostedPage, response.body)

    async def cancel_batch(
        self,
        batch_id: str,
    ) -> UserBatch:
        """Cancel a batch. Items that no worker has begun are cancelled. Running items are left
        to finish."""
        response = await self._send(
            "DELETE",
            f"/user/batches/{quote(batch_id, safe='')}",
        )
        return decoded(UserBatch, response.body)

    async def cancel_render(
        self,
        render_id: str,
    ) -> JobRecord:
        """Cancel a render. A running render is stopped."""
        response = await self._send(
            "DELETE",
            f"/user/renders/{quote(render_id, safe='')}",
        )
        return decoded(JobRecord, response.body)

    async def cancel_subscription(
        self,
    ) -> Subscription:
        """Cancel at the end of the period. Until then nothing changes, and the subscription can
        be resumed. A scheduled change of plan is dropped."""
        response = await self._send(
            "POST",
            "/user/subscription/cancel",
        )
        return decoded(Subscription, response.body)

    async def checkout(
        self,
        *,
        plan: Literal["starter", "professional", "business"],
    ) -> Checkout:
        """Change to a paid plan. Without a subscription, `url` is the page where the plan is
        paid. With one, a higher plan is charged at once and takes effect when that is paid:
        `url` is empty, or the page where the bank asks the customer to confirm. A lower plan
        begins with the next period, and `url` is empty. If a payment is overdue, `url` is the
        page where it is paid.

        Args:
            plan: The name of the plan.
        """
        response = await self._send(
            "POST",
            "/user/checkout",
            body={"plan": plan},
        )
        return decoded(Checkout, response.body)

    async def confirm_second_factor(
        self,
        *,
        code: str,
    ) -> RecoveryCodes:
        """Require codes of the authenticator app from now on. Ends every other session and
        access token of the person.

        Args:
            code: The code that the app shows.
        """
        response = await self._send(
            "POST",
            "/auth/second-factor/confirm",
            body={"code": code},
        )
        return decoded(RecoveryCodes, response.body)

    async def create_api_key(
        self,
        *,
        name: str,
        mode: Literal["live", "test"] | None = None,
        allowed_ips: Sequence[str] | None = None,
    ) -> NewApiKey:
        """Create an API key.

        Args:
            name: Its name.
            mode: Renders of `test` keys carry a watermark and use no quota.
            allowed_ips: Addresses and networks that the key may be used from. An empty
                list allows all.
        """
        response = await self._send(
            "POST",
            "/user/api-keys",
            body={"name": name, "mode": mode, "allowedIps": allowed_ips},
        )
        return decoded(NewApiKey, response.body)

    async def create_batch(
        self,
        *,
        items: Sequence[BatchItemInput] | None = None,
        source: BatchSourceInput | None = None,
        proof: int | None = None,
        webhook_url: str | None = None,
        expires_in_hours: int | None = None,
        notes: str | None = None,
        metadata: Mapping[str, str] | None = None,
        mode: Literal["live", "test"] | None = None,
    ) -> AcceptedBatch:
        """Render many documents in one batch, without an API key. All items are checked
        together, and either all are accepted or none. The response comes before any of them
        is rendered.

        Args:
            items: The documents to render. The plan limits how many there may be.
                Required without `source`.
            proof: Renders so many rows of `source` first; the batch then waits for its
                release: `POST /v1/pdf/batch/{id}/release`.
            webhook_url: Where a signed callback is sent when the batch has ended. Plans
                professional and business.
            expires_in_hours: Hours that the outputs are kept after the end of the batch;
                0: each is deleted once it has arrived at its `uploadUrl`, which every item
                then has. Maximum and default: the retention of the plan.
            notes: Any text, which is kept with the batch.
            metadata: Any text, which is kept with the batch.
            mode: `live`, or `test` for renders with a watermark that use no quota.
        """
        response = await self._send(
            "POST",
            "/user/batches",
            body={"items": items, "source": source, "proof": proof, "webhookUrl": webhook_url, "expiresInHours": expires_in_hours, "notes": notes, "metadata": metadata, "mode": mode},
        )
        return decoded(AcceptedBatch, response.body)

    async def create_batch_upload(
        self,
        *,
        mode: Literal["live", "test"] | None = None,
    ) -> BatchUpload:
        """Upload the file of a batch. A file whose rows are to be rendered: `source.upload` of a
        batch names it. It is stored as it arrives, and deleted once it is read, or after a
        day.

        Args:
            mode: The mode of the batch that is to be made of it.
        """
        response = await self._send(
            "POST",
            "/user/batches/uploads",
            query={"mode": mode},
        )
        return decoded(BatchUpload, response.body)

    async def create_domain(
        self,
        *,
        domain: str,
        issuer: str,
        client_id: str,
        client_secret: str | None = None,
        role: Literal["developer", "billing", "viewer"] | None = None,
    ) -> SignInDomain:
        """Claim a mail domain, and set the issuer of its people. It counts once POST
        /user/domains/{domain}/verification has found the record of `proof`. An account may
        have 10 domains. In a browser, the password must have been given within the last 5
        minutes.

        Args:
            domain: The part of addresses after the @.
            issuer: The issuer identifier, an https address. Its discovery document is
                below it.
            client_id: The client that the issuer knows this service as.
            client_secret: The secret of that client. It is never shown.
            role: The role of people who sign in for the first time.
        """
        response = await self._send(
            "POST",
            "/user/domains",
            body={"domain": domain, "issuer": issuer, "clientId": client_id, "clientSecret": client_secret, "role": role},
        )
        return decoded(SignInDomain, response.body)

    async def create_member_invitation(
        self,
        *,
        email: str,
        role: Literal["developer", "billing", "viewer"],
    ) -> TeamInvitation:
        """Invite somebody to the account. Mails a link that works once, for seven days. Another
        invitation to the same address replaces it. An account may have 100 members and open
        invitations.

        Args:
            email: Where the invitation is sent.
            role: `developer`: documents, templates, keys and callbacks. `billing`: plan,
                purchases and invoices. `viewer`: sees documents, templates and logs, and
                changes nothing.
        """
        response = await self._send(
            "POST",
            "/user/members/invitations",
            body={"email": email, "role": role},
        )
        return decoded(TeamInvitation, response.body)

    async def create_passkey(
        self,
        *,
        name: str,
        credential: PasskeyCredential,
    ) -> AddedPasskey:
        """Keep a passkey that the browser has made. It signs the person in from then on, and is
        a second factor besides the password. The first factor of a person ends every other
        session and access token. A person may have 20 passkeys.

        Args:
            name: By which the person tells it from others.
        """
        response = await self._send(
            "POST",
            "/auth/passkeys",
            body={"name": name, "credential": credential},
        )
        return decoded(AddedPasskey, response.body)

    async def create_render(
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
        upload_url: str | None = None,
        report: bool | None = None,
        strict_data: bool | None = None,
        options: RenderOptions | None = None,
        mode: Literal["live", "test"] | None = None,
    ) -> AcceptedUserRender:
        """Render one document, without an API key. The response comes at once; follow the job.
        It is rendered before jobs with `executionMode` = `async`.

        Args:
            html: Input source: an HTML document.
            url: Input source: the http or https address of a page.
            template_id: Input source: a saved template of the account.
            template_version_id: A version of the template; by default its current one.
            data: Values of the template's variables.
            output: `binary` responds with the PDF, `url` with a signed address to
                download it from.
            filename: Name of the PDF file.
            execution_mode: `sync` waits a while for the render to end; `async` responds
                with 202 at once.
            webhook_url: Where the end of the render is told. Needs `executionMode` =
                `async`. Plans professional and business.
            upload_url: A signed address of S3, Google Cloud Storage or Azure, where the
                PDF is put. Plans professional and business.
            report: Same as `options.report`, and counts before it.
            strict_data: Same as `options.strictData`, and counts before it.
            mode: `live`, or `test` for a render with a watermark that uses no quota.
        """
        response = await self._send(
            "POST",
            "/user/renders",
            body={"html": html, "url": url, "templateId": template_id, "templateVersionId": template_version_id, "data": data, "output": output, "filename": filename, "executionMode": execution_mode, "webhookUrl": webhook_url, "uploadUrl": upload_url, "report": report, "strictData": strict_data, "options": options, "mode": mode},
        )
        return decoded(AcceptedUserRender, response.body)

    async def create_second_factor_recovery_code(
        self,
    ) -> RecoveryCodes:
        """Get new recovery codes in place of the former ones."""
        response = await self._send(
            "POST",
            "/auth/second-factor/recovery-codes",
        )
        return decoded(RecoveryCodes, response.body)

    async def create_template(
        self,
        *,
        name: str,
        content: str,
        sample_data: str | None = None,
        data_schema: Any | None = None,
        options: RenderOptions | None = None,
        message: str | None = None,
    ) -> Template:
        """Save a new template. An account may have 1000 templates.

        Args:
            name: Its name.
            content: HTML with Liquid: `{{name}}`, `{{a.b}}`, loops, conditions, filters.
            sample_data: A JSON document serialized as a string.
            data_schema: A JSON Schema of draft 2020-12 that the data of each render must
                fit, as an object or serialized as a string; null for none.
            options: Options for each render of the template. Options of the render itself
                have precedence. `assetHeaders` and `cookies` cannot be saved. null for none.
            message: What this version changes, for whoever reads the history of the
                template.
        """
        response = await self._send(
            "POST",
            "/user/templates",
            body={"name": name, "content": content, "sampleData": sample_data, "dataSchema": data_schema, "options": options, "message": message},
        )
        return decoded(Template, response.body)

    async def delete_domain(
        self,
        domain: str,
    ) -> None:
        """Remove a mail domain. Its people do not sign in any more, and are no members: who came
        through the issuer has no other sign-in. In a browser, the password must have been
        given within the last 5 minutes."""
        await self._send(
            "DELETE",
            f"/user/domains/{quote(domain, safe='')}",
        )

    async def delete_member(
        self,
        member_id: str,
    ) -> None:
        """Remove a member. The sessions in which the person acts for the account end everywhere
        within a second. API keys that the person has made go on working: they are the
        account’s."""
        await self._send(
            "DELETE",
            f"/user/members/{quote(member_id, safe='')}",
        )

    async def delete_member_invitation(
        self,
        invitation_id: str,
    ) -> None:
        """Revoke an invitation."""
        await self._send(
            "DELETE",
            f"/user/members/invitations/{quote(invitation_id, safe='')}",
        )

    async def delete_membership(
        self,
    ) -> None:
        """Leave the account. Ends the session of this request. The owner has to transfer the
        ownership first."""
        await self._send(
            "DELETE",
            "/user/membership",
        )

    async def delete_passkey(
        self,
        passkey_id: str,
    ) -> None:
        """Remove a passkey. It does not sign in any more, and every other session and access
        token of the person ends. In a browser, the person must have signed in within the last
        5 minutes."""
        await self._send(
            "DELETE",
            f"/auth/passkeys/{quote(passkey_id, safe='')}",
        )

    async def delete_render_share(
        self,
        render_id: str,
        share_id: str,
    ) -> None:
        """Revoke a link to the PDF of a render. Nobody can download by it any more. Downloads
        that have begun go on."""
        await self._send(
            "DELETE",
            f"/user/renders/{quote(render_id, safe='')}/shares/{quote(share_id, safe='')}",
        )

    async def delete_second_factor(
        self,
    ) -> None:
        """Remove the second factor. Ends every other session and access token of the person. In
        a browser, the password and a code must have been given within the last 5 minutes."""
        await self._send(
            "DELETE",
            "/auth/second-factor",
        )

    async def delete_template(
        self,
        template_id: str,
    ) -> None:
        """Delete a template and its versions. Jobs that were accepted before are still rendered."""
        await self._send(
            "DELETE",
            f"/user/templates/{quote(template_id, safe='')}",
        )

    async def delete_template_draft(
        self,
        template_id: str,
    ) -> None:
        """Discard the draft of a template. The versions of the template stay as they are."""
        await self._send(
            "DELETE",
            f"/user/templates/{quote(template_id, safe='')}/draft",
        )

    async def end_session(
        self,
        session_id: str,
    ) -> None:
        """End a session of the person."""
        await self._send(
            "DELETE",
            f"/auth/sessions/{quote(session_id, safe='')}",
        )

    async def get_accounts(
        self,
    ) -> OwnAccountList:
        """List the accounts of the person. The account that the person has registered, if any,
        and every account that the person belongs to."""
        response = await self._send(
            "GET",
            "/auth/accounts",
        )
        return decoded(OwnAccountList, response.body)

    async def get_alerts(
        self,
    ) -> Alerts:
        """Get what is the matter with the account. The use of the quota and, of what the role of
        the person sees, the alerts at the moment."""
        response = await self._send(
            "GET",
            "/user/alerts",
        )
        return decoded(Alerts, response.body)

    async def get_api_keys(
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
        response = await self._send(
            "GET",
            "/user/api-keys",
            query={"status": status, "mode": mode, "sort": sort, "limit": limit, "offset": offset},
        )
        return decoded(ApiKeyList, response.body)

    async def get_audit_log(
        self,
        *,
        action: Literal["account.registered", "account.signed_in", "account.sign_in_failed", "account.signed_out", "account.plan_changed", "account.quota_period_changed", "account.password_reset", "account.tokens_revoked", "account.address_confirmed", "account.taken_over", "account.owner_changed", "account.renamed", "account.second_factor_required", "account.request_details_changed", "second_factor.added", "second_factor.removed", "passkey.added", "passkey.removed", "account.suspended", "account.resumed", "account.deletion_requested", "account.deleted", "billing.subscription_cancelled", "billing.subscription_resumed", "billing.plan_change_scheduled", "billing.plan_change_withdrawn", "billing.auto_overage_changed", "billing.block_granted", "billing.block_frozen", "billing.block_taken_back", "billing.block_returned", "billing.block_expired", "domain.claimed", "domain.verified", "domain.changed", "domain.removed", "member.invited", "member.invitation_revoked", "member.joined", "member.role_changed", "member.removed", "key.created", "key.rotated", "key.changed", "key.revoked", "webhook_key.rotated", "notifications.changed", "template.saved", "template.deleted", "render.shared", "render.share_revoked", "job.retried", "job.cancelled", "callback.retried", "mail.retried", "billing.retried", "worker.drained", "worker.resumed", "audit.entries_left_out"] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_desc", "created_asc"] | None = None,
    ) -> AuditLog:
        """List what was done to the account. Sign-ins, keys, templates, changes of the account
        and purchases of the last 400 days. If something is done more than 500 times in a day
        (UTC), further entries are left out, and `audit.entries_left_out` says how many.

        Args:
            action: Only entries of this kind.
            limit: How many to return.
            offset: How many to skip.
        """
        response = await self._send(
            "GET",
            "/user/audit-log",
            query={"action": action, "limit": limit, "offset": offset, "sort": sort},
        )
        return decoded(AuditLog, response.body)

    async def get_batch(
        self,
        batch_id: str,
    ) -> UserBatch:
        """Get a batch of the account, without its items."""
        response = await self._send(
            "GET",
            f"/user/batches/{quote(batch_id, safe='')}",
        )
        return decoded(UserBatch, response.body)

    async def get_batch_items(
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
        response = await self._send(
            "GET",
            f"/user/batches/{quote(batch_id, safe='')}/items",
            query={"status": status, "limit": limit, "offset": offset},
        )
        return decoded(UserBatchItemList, response.body)

    async def get_batches(
        self,
        *,
        status: JobStatus | None = None,
        mode: Literal["live", "test"] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_desc", "created_asc"] | None = None,
    ) -> UserBatchList:
        """List the batches of the account. Batches of live and of test keys.

        Args:
            status: Only batches in this state.
            mode: Only renders of live keys, or only of test keys.
            limit: How many to return.
            offset: How many to skip.
        """
        response = await self._send(
            "GET",
            "/user/batches",
            query={"status": status, "mode": mode, "limit": limit, "offset": offset, "sort": sort},
        )
        return decoded(UserBatchList, response.body)

    async def get_bill(
        self,
    ) -> Bill:
        """Get the usage and the cost of the current period. Live renders count from their
        acceptance. Amounts are without taxes, discounts and credit."""
        response = await self._send(
            "GET",
            "/user/bill",
        )
        return decoded(Bill, response.body)

    async def get_billing_portal(
        self,
    ) -> HostedPage:
        """Get a link to the billing portal."""
        response = await self._send(
            "GET",
            "/user/billing-portal",
        )
        return decoded(HostedPage, response.body)

    async def get_domains(
        self,
    ) -> SignInDomainList:
        """List the mail domains whose people sign in at an issuer."""
        response = await self._send(
            "GET",
            "/user/domains",
        )
        return decoded(SignInDomainList, response.body)

    async def get_invoices(
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
            search: Part of the number, in upper or lower case.
            from_: Only invoices that were created at this time or later.
            to: Only invoices that were created before this time.
        """
        response = await self._send(
            "GET",
            "/user/invoices",
            query={"limit": limit, "offset": offset, "status": status, "search": search, "from": from_, "to": to, "sort": sort},
        )
        return decoded(InvoiceList, response.body)

    async def get_members(
        self,
    ) -> MemberList:
        """List the people of the account."""
        response = await self._send(
            "GET",
            "/user/members",
        )
        return decoded(MemberList, response.body)

    async def get_notifications(
        self,
    ) -> Notifications:
        """Get which alerts the person gets by mail."""
        response = await self._send(
            "GET",
            "/user/notifications",
        )
        return decoded(Notifications, response.body)

    async def get_overage(
        self,
    ) -> OveragePrices:
        """List the blocks of PDFs that can be bought, with their prices."""
        response = await self._send(
            "GET",
            "/user/overage",
        )
        return decoded(OveragePrices, response.body)

    async def get_passkeys(
        self,
    ) -> PasskeyList:
        """List the passkeys of the person."""
        response = await self._send(
            "GET",
            "/auth/passkeys",
        )
        return decoded(PasskeyList, response.body)

    async def get_plans(
        self,
    ) -> PlanList:
        """List the plans that the account can choose from."""
        response = await self._send(
            "GET",
            "/user/plans",
        )
        return decoded(PlanList, response.body)

    async def get_queue(
        self,
    ) -> Queue:
        """Get the number of running and waiting jobs."""
        response = await self._send(
            "GET",
            "/user/queue",
        )
        return decoded(Queue, response.body)

    async def get_render(
        self,
        render_id: str,
    ) -> UserRenderDetail:
        """Get a render of the account, with its attempts."""
        response = await self._send(
            "GET",
            f"/user/renders/{quote(render_id, safe='')}",
        )
        return decoded(UserRenderDetail, response.body)

    async def get_render_input(
        self,
        render_id: str,
    ) -> RenderInput:
        """Get the input of a render. The input is kept until the render has completed; if the
        render has failed, until its retention ends."""
        response = await self._send(
            "GET",
            f"/user/renders/{quote(render_id, safe='')}/input",
        )
        return decoded(RenderInput, response.body)

    async def get_render_report(
        self,
        render_id: str,
    ) -> RenderReport:
        """Get the report of a render. The requests of the document with their outcomes, the
        console, exceptions, fonts, characters without a font, waits, and warnings in plain
        words. If the render was lost with its worker, the report has only the attempts. A
        render that was requested with `report` has a report from its end on, for as long as
        its job is kept."""
        response = await self._send(
            "GET",
            f"/user/renders/{quote(render_id, safe='')}/report",
        )
        return decoded(RenderReport, response.body)

    async def get_render_shares(
        self,
        render_id: str,
    ) -> SharedLinks:
        """List the links to the PDF of a render. Those that neither have ended nor were revoked,
        the newest first."""
        response = await self._send(
            "GET",
            f"/user/renders/{quote(render_id, safe='')}/shares",
        )
        return decoded(SharedLinks, response.body)

    async def get_renders(
        self,
        *,
        status: JobStatus | None = None,
        mode: Literal["live", "test"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        search: str | None = None,
        error: ErrorCode | None = None,
        template_id: str | None = None,
        api_key_id: str | None = None,
        min_ms: int | None = None,
        max_ms: int | None = None,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_desc", "created_asc", "duration_desc"] | None = None,
    ) -> UserRenderList:
        """List the single renders of the account. Renders of live keys, of test keys and of the
        dashboard. By `search`, `error`, `templateId`, `apiKeyId`, a duration, or in the order
        of durations, it is a search among the first 5000 renders in the order of time:
        `total` is what it has found, and `searchedTo` where it goes on.

        Args:
            status: Only jobs in this state.
            mode: Only renders of live keys, or only of test keys.
            from_: Only renders that were accepted at this time or later.
            to: Only renders that were accepted before this time.
            search: Only renders with this in their file name or id.
            error: Only renders that failed with this code.
            template_id: Only renders of this template.
            api_key_id: Only renders with this key; `none`: those of the dashboard,
                without a key.
            min_ms: Only renders that took this long or longer, in milliseconds from
                acceptance to the end.
            max_ms: Only renders that took this long at most.
            limit: How many to return.
            offset: How many to skip.
            sort: `duration_desc`: what took longest comes first.
        """
        response = await self._send(
            "GET",
            "/user/renders",
            query={"status": status, "mode": mode, "from": from_, "to": to, "search": search, "error": error, "templateId": template_id, "apiKeyId": api_key_id, "minMs": min_ms, "maxMs": max_ms, "limit": limit, "offset": offset, "sort": sort},
        )
        return decoded(UserRenderList, response.body)

    async def get_request_log(
        self,
        request_log_id: str,
    ) -> LoggedRequest:
        """Get a request of the log with its headers and bodies. Headers and bodies are kept for
        as long as the plan keeps PDFs, unless the account has that turned off. Some may be
        missing after a moment with very many requests."""
        response = await self._send(
            "GET",
            f"/user/request-logs/{quote(request_log_id, safe='')}",
        )
        return decoded(LoggedRequest, response.body)

    async def get_request_logs(
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
        a page may have fewer rows than its limit where such requests are rare: the next page
        begins at `offset` plus the number of rows received.

        Args:
            period: How far back, from the start of the hour.
            limit: How many to return.
            offset: How many to skip.
            api_key_id: Only requests with this key.
            status: Only requests with this outcome.
            endpoint: Only requests of this route, one of `endpointOptions`.
        """
        response = await self._send(
            "GET",
            "/user/request-logs",
            query={"period": period, "limit": limit, "offset": offset, "sort": sort, "apiKeyId": api_key_id, "status": status, "endpoint": endpoint},
        )
        return decoded(RequestLogList, response.body)

    async def get_second_factor(
        self,
    ) -> SecondFactor:
        """Get the second factor of the person."""
        response = await self._send(
            "GET",
            "/auth/second-factor",
        )
        return decoded(SecondFactor, response.body)

    async def get_sessions(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
    ) -> SessionList:
        """List the sessions of the person. Newest first. Access tokens of POST /auth/login are
        not sessions.

        Args:
            limit: How many to return.
            offset: How many to skip.
        """
        response = await self._send(
            "GET",
            "/auth/sessions",
            query={"limit": limit, "offset": offset},
        )
        return decoded(SessionList, response.body)

    async def get_subscription(
        self,
    ) -> Subscription:
        """Get the subscription of the account."""
        response = await self._send(
            "GET",
            "/user/subscription",
        )
        return decoded(Subscription, response.body)

    async def get_template(
        self,
        template_id: str,
    ) -> Template:
        """Get a template."""
        response = await self._send(
            "GET",
            f"/user/templates/{quote(template_id, safe='')}",
        )
        return decoded(Template, response.body)

    async def get_template_draft(
        self,
        template_id: str,
    ) -> TemplateDraftResponse:
        """Get the draft of a template."""
        response = await self._send(
            "GET",
            f"/user/templates/{quote(template_id, safe='')}/draft",
        )
        return decoded(TemplateDraftResponse, response.body)

    async def get_template_version(
        self,
        template_id: str,
        version_id: str,
    ) -> TemplateVersion:
        """Get one version of a template. For plans with version history."""
        response = await self._send(
            "GET",
            f"/user/templates/{quote(template_id, safe='')}/versions/{quote(version_id, safe='')}",
        )
        return decoded(TemplateVersion, response.body)

    async def get_template_versions(
        self,
        template_id: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
    ) -> TemplateVersionList:
        """List the versions of a template. Newest first. For plans with version history.

        Args:
            limit: How many to return.
            offset: How many to skip.
        """
        response = await self._send(
            "GET",
            f"/user/templates/{quote(template_id, safe='')}/versions",
            query={"limit": limit, "offset": offset},
        )
        return decoded(TemplateVersionList, response.body)

    async def get_templates(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        view: Literal["full", "summary"] | None = None,
        search: str | None = None,
    ) -> TemplateList | TemplateSummaryList:
        """List the templates of the account. Newest first. A page of very large templates may
        have fewer rows than its limit: the next page begins at `offset` plus the number of
        rows received.

        Args:
            limit: How many to return.
            offset: How many to skip.
            view: `summary` leaves out content, sample data, schema and options.
            search: Part of the name, in upper or lower case. Only with `view` =
                `summary`.
        """
        response = await self._send(
            "GET",
            "/user/templates",
            query={"limit": limit, "offset": offset, "view": view, "search": search},
        )
        result: TemplateList | TemplateSummaryList = decoded_first((TemplateList, TemplateSummaryList), response.body)
        return result

    async def get_usage(
        self,
        *,
        period: Literal["1d", "7d", "30d", "90d"] | None = None,
        include_breakdown: bool | None = None,
    ) -> UsageSummary:
        """Get the usage summary of the account.

        Args:
            period: How far back, from the start of the hour.
            include_breakdown: `true` adds the usage of each API key.
        """
        response = await self._send(
            "GET",
            "/user/usage",
            query={"period": period, "includeBreakdown": include_breakdown},
        )
        return decoded(UsageSummary, response.body)

    async def get_usage_series(
        self,
        *,
        period: Literal["1d", "7d", "30d", "90d"] | None = None,
        interval: Literal["hour", "day"] | None = None,
        api_key_id: str | None = None,
    ) -> UsageSeries:
        """Get the usage of the account over time.

        Args:
            period: How far back, from the start of the hour.
            interval: `hour` is allowed for periods of up to 7 days.
            api_key_id: Only requests with this key.
        """
        response = await self._send(
            "GET",
            "/user/usage/series",
            query={"period": period, "interval": interval, "apiKeyId": api_key_id},
        )
        return decoded(UsageSeries, response.body)

    async def get_webhook_deliveries(
        self,
        *,
        status: Literal["pending", "delivered", "failed"] | None = None,
        job_id: str | None = None,
        event: Literal["batch.completed", "render.completed", "render.failed", "webhook.test"] | None = None,
        url: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_desc", "created_asc"] | None = None,
    ) -> WebhookDeliveryList:
        """List the callbacks of the account. Callbacks of the last 90 days: delivered, in
        progress and failed. By `event` or `url` it is a search among the first 5000 callbacks
        in the order of time: `total` is what it has found, and `searchedTo` where it goes on.

        Args:
            status: Only callbacks in this state.
            job_id: Only callbacks of this job or batch.
            event: Only callbacks of this event.
            url: Only callbacks with this in their address, in either case.
            from_: Only callbacks created then or later.
            to: Only callbacks created before.
            limit: How many to return.
            offset: How many to skip.
        """
        response = await self._send(
            "GET",
            "/user/webhook-deliveries",
            query={"status": status, "jobId": job_id, "event": event, "url": url, "from": from_, "to": to, "limit": limit, "offset": offset, "sort": sort},
        )
        return decoded(WebhookDeliveryList, response.body)

    async def get_webhook_delivery(
        self,
        webhook_delivery_id: str,
    ) -> WebhookDeliveryDetail:
        """Get a callback with its body and its attempts."""
        response = await self._send(
            "GET",
            f"/user/webhook-deliveries/{quote(webhook_delivery_id, safe='')}",
        )
        return decoded(WebhookDeliveryDetail, response.body)

    async def get_webhook_keys(
        self,
    ) -> WebhookKeyList:
        """List the keys that sign callbacks."""
        response = await self._send(
            "GET",
            "/user/webhook-keys",
        )
        return decoded(WebhookKeyList, response.body)

    async def me(
        self,
    ) -> Account:
        """Get the signed-in person, and the account that the person acts for."""
        response = await self._send(
            "GET",
            "/auth/me",
        )
        return decoded(Account, response.body)

    async def password(
        self,
        *,
        current_password: str,
        new_password: str,
    ) -> None:
        """Change the password. Ends every other session, and all access tokens. The session of
        this request continues under a new cookie.

        Args:
            current_password: The password until now.
            new_password: The password from now on.
        """
        await self._send(
            "POST",
            "/auth/password",
            body={"currentPassword": current_password, "newPassword": new_password},
        )

    async def pause_batch(
        self,
        batch_id: str,
    ) -> UserBatch:
        """Pause a batch with a source. No further row is read. Rows that are items already are
        rendered: a few hundred at most."""
        response = await self._send(
            "POST",
            f"/user/batches/{quote(batch_id, safe='')}/pause",
        )
        return decoded(UserBatch, response.body)

    async def preview_template(
        self,
        *,
        content: str | None = None,
        template_id: str | None = None,
        sample_data: str | None = None,
        data_schema: Any | None = None,
        output: Literal["html", "pdf"] | None = None,
        options: RenderOptions | None = None,
    ) -> Preview | AcceptedUserRender:
        """Preview a template with data: its HTML, or with `output` = `pdf` a test render.

        Args:
            content: HTML with Liquid: `{{name}}`, `{{a.b}}`, loops, conditions, filters.
            template_id: A saved template instead of `content`.
            sample_data: A JSON document serialized as a string. Default: that of the
                saved template, or no data.
            data_schema: A schema that the sample data must fit. With `templateId`, its
                default is the schema of the saved template.
            output: `pdf` makes a test render of the HTML: follow its job as that of a
                test key.
            options: Options of the PDF; `locale`, `timezone` and `strictData` apply to
                the HTML as well. They have precedence over those of a saved template.
        """
        response = await self._send(
            "POST",
            "/user/templates/preview",
            body={"content": content, "templateId": template_id, "sampleData": sample_data, "dataSchema": data_schema, "output": output, "options": options},
        )
        result: Preview | AcceptedUserRender = decoded_first((Preview, AcceptedUserRender), response.body)
        return result

    async def publish_template_draft(
        self,
        template_id: str,
        *,
        message: str | None = None,
        draft_id: str | None = None,
    ) -> Template:
        """Publish the draft of a template as its new version. It is rejected when the template
        was saved since the version that the draft was made from: save the draft again with
        the present version as `baseVersionId`.

        Args:
            message: What this version changes, for whoever reads the history of the
                template.
            draft_id: The draft that you have seen: it is rejected when it has been
                changed since.
        """
        response = await self._send(
            "POST",
            f"/user/templates/{quote(template_id, safe='')}/draft/publish",
            body={"message": message, "draftId": draft_id},
        )
        return decoded(Template, response.body)

    async def redeliver_failed_webhook_delivery(
        self,
        *,
        since: str,
        event: Literal["batch.completed", "render.completed", "render.failed", "webhook.test"] | None = None,
        url: str | None = None,
    ) -> RedeliveredWebhooks:
        """Send the callbacks again that failed. Those that were created since a time, for
        example the beginning of an outage, the oldest first; at most 500 a request. Each is
        sent under its own id and with all attempts.

        Args:
            since: Only callbacks created then or later.
            event: Only callbacks of this event.
            url: Only callbacks with this in their address, in either case.
        """
        response = await self._send(
            "POST",
            "/user/webhook-deliveries/redeliver-failed",
            body={"since": since, "event": event, "url": url},
        )
        return decoded(RedeliveredWebhooks, response.body)

    async def redeliver_webhook_delivery(
        self,
        webhook_delivery_id: str,
    ) -> WebhookDelivery:
        """Send a callback again. Sends it at once, under the same id and with all attempts,
        whatever its outcome was."""
        response = await self._send(
            "POST",
            f"/user/webhook-deliveries/{quote(webhook_delivery_id, safe='')}/redeliver",
        )
        return decoded(WebhookDelivery, response.body)

    async def registration_passkey(
        self,
    ) -> BegunPasskey:
        """Begin to make a passkey. In a browser, the person must have signed in within the last
        5 minutes. People who sign in through an issuer have their passkeys there."""
        response = await self._send(
            "POST",
            "/auth/passkeys/registration",
        )
        return decoded(BegunPasskey, response.body)

    async def release_batch(
        self,
        batch_id: str,
    ) -> UserBatch:
        """Release a batch after its proof. The rows after those of the proof are rendered as
        well."""
        response = await self._send(
            "POST",
            f"/user/batches/{quote(batch_id, safe='')}/release",
        )
        return decoded(UserBatch, response.body)

    async def replace_member_second_factor(
        self,
        *,
        required: bool,
    ) -> None:
        """Require a second factor of everybody in the account. Takes effect everywhere within a
        second: sessions and access tokens without one are refused for this account. An issuer
        that signs people in asks for what it wants, and counts as one. API keys are not
        affected. The owner must have signed in with a second factor.

        Args:
            required: Whether it is required.
        """
        await self._send(
            "PUT",
            "/user/members/second-factor",
            body={"required": required},
        )

    async def replace_request_log_details(
        self,
        *,
        kept: bool,
    ) -> None:
        """Choose whether headers and bodies of requests are kept in the log. In force within a
        second. When it is turned off, none are kept any more, and earlier ones are not shown;
        they are deleted at the end of their time.

        Args:
            kept: Whether headers and bodies of requests are kept.
        """
        await self._send(
            "PUT",
            "/user/request-logs/details",
            body={"kept": kept},
        )

    async def replace_template_draft(
        self,
        template_id: str,
        *,
        name: str,
        content: str,
        sample_data: str | None = None,
        data_schema: str | None = None,
        options: RenderOptions | None = None,
        base_version_id: str | None = None,
        base_draft_id: str | None = None,
    ) -> TemplateDraftResponse:
        """Save the draft of a template. A template has one draft at most, beside its versions.
        Renders never use it: it becomes a version once it is published.

        Args:
            name: Its name.
            content: As in a template. A draft need not be valid before it is published.
            sample_data: As in a template; it need not be JSON yet.
            data_schema: A JSON Schema serialized as a string; null for none. It need not
                be valid yet.
            options: Options for each render; null for none.
            base_version_id: The version that the draft was made from. Default: the
                present version.
            base_draft_id: The draft that this one was made from, null for none: it is
                rejected when the draft has been changed since. Without it, this one replaces
                whatever is there.
        """
        response = await self._send(
            "PUT",
            f"/user/templates/{quote(template_id, safe='')}/draft",
            body={"name": name, "content": content, "sampleData": sample_data, "dataSchema": data_schema, "options": options, "baseVersionId": base_version_id, "baseDraftId": base_draft_id},
        )
        return decoded(TemplateDraftResponse, response.body)

    async def resume_batch(
        self,
        batch_id: str,
    ) -> UserBatch:
        """Resume a paused batch. Its file is read on, from the row after the last one that
        became an item."""
        response = await self._send(
            "POST",
            f"/user/batches/{quote(batch_id, safe='')}/resume",
        )
        return decoded(UserBatch, response.body)

    async def resume_subscription(
        self,
    ) -> Subscription:
        """Resume the subscription."""
        response = await self._send(
            "POST",
            "/user/subscription/resume",
        )
        return decoded(Subscription, response.body)

    async def retry_failed_batch(
        self,
        batch_id: str,
    ) -> RetriedBatch:
        """Retry the items of a batch that have failed or were cancelled. This makes a new batch
        under the current plan, and uses quota like any other. The old batch is not changed."""
        response = await self._send(
            "POST",
            f"/user/batches/{quote(batch_id, safe='')}/retry-failed",
        )
        return decoded(RetriedBatch, response.body)

    async def retry_render(
        self,
        render_id: str,
    ) -> AcceptedUserRender:
        """Retry a render that has failed or was cancelled. This makes a new job under the
        current plan, and uses quota like any other. The old job is not changed."""
        response = await self._send(
            "POST",
            f"/user/renders/{quote(render_id, safe='')}/retry",
        )
        return decoded(AcceptedUserRender, response.body)

    async def revoke_api_key(
        self,
        api_key_id: str,
    ) -> ApiKey:
        """Revoke an API key. The key stops working everywhere within a second. Revoking it again
        changes nothing."""
        response = await self._send(
            "DELETE",
            f"/user/api-keys/{quote(api_key_id, safe='')}",
        )
        return decoded(ApiKey, response.body)

    async def rollback_template_version(
        self,
        template_id: str,
        version_id: str,
    ) -> Template:
        """Roll back to an earlier version. The template gets a new version with the content of
        the earlier one. For plans with version history."""
        response = await self._send(
            "POST",
            f"/user/templates/{quote(template_id, safe='')}/versions/{quote(version_id, safe='')}/rollback",
        )
        return decoded(Template, response.body)

    async def rotate_api_key(
        self,
        api_key_id: str,
    ) -> NewApiKey:
        """Rotate an API key. A new key with the same name, mode and allowed addresses replaces
        the old key, which is revoked at once. This works even if the plan allows no more
        keys."""
        response = await self._send(
            "POST",
            f"/user/api-keys/{quote(api_key_id, safe='')}/rotate",
        )
        return decoded(NewApiKey, response.body)

    async def rotate_webhook_key(
        self,
    ) -> NewWebhookKey:
        """Rotate the key that signs callbacks. This also makes the first key of an account. For
        24 hours the previous key signs together with the new one."""
        response = await self._send(
            "POST",
            "/user/webhook-keys/rotate",
        )
        return decoded(NewWebhookKey, response.body)

    async def second_factor(
        self,
    ) -> BegunSecondFactor:
        """Begin to set up an authenticator app. Sign-ins need its codes only once POST
        /auth/second-factor/confirm was sent a first one. In a browser, the password must have
        been given within the last 5 minutes."""
        response = await self._send(
            "POST",
            "/auth/second-factor",
        )
        return decoded(BegunSecondFactor, response.body)

    async def set_auto_overage(
        self,
        *,
        enabled: bool,
        block_size: Literal[1000, 5000, 10000] | None = None,
        spend_cap_cents: int | None = None,
    ) -> Subscription:
        """Turn automatic overage on or off. Blocks are bought when the quota is used up. Fields
        that are left out keep their values; the first values are the smallest block, and a
        cap that allows one block. The cap is for one billing period.

        Args:
            enabled: Whether it is switched on.
            block_size: PDFs of a block.
            spend_cap_cents: US cents in one billing period.
        """
        response = await self._send(
            "POST",
            "/user/subscription/auto-overage",
            body={"enabled": enabled, "blockSize": block_size, "spendCapCents": spend_cap_cents},
        )
        return decoded(Subscription, response.body)

    async def share_render(
        self,
        render_id: str,
        *,
        hours: int | None = None,
    ) -> SharedLink:
        """Make a link by which anybody can download the PDF of a render. The link ends at its
        time, when it is revoked, or with the PDF if that is deleted earlier. A PDF has at
        most 50 links.

        Args:
            hours: For how long it is valid. Default and maximum: as long as the PDF is
                kept.
        """
        response = await self._send(
            "POST",
            f"/user/renders/{quote(render_id, safe='')}/share",
            body={"hours": hours},
        )
        return decoded(SharedLink, response.body)

    async def sign_out(
        self,
    ) -> None:
        """Revoke the access token of this request."""
        await self._send(
            "POST",
            "/auth/logout",
        )

    async def test_webhook_delivery(
        self,
        *,
        url: str,
    ) -> WebhookDelivery:
        """Send a test callback. Its event is `webhook.test`. It is signed and repeated like any
        other callback, so you can see whether callbacks arrive.

        Args:
            url: The address of the receiver.
        """
        response = await self._send(
            "POST",
            "/user/webhook-deliveries/test",
            body={"url": url},
        )
        return decoded(WebhookDelivery, response.body)

    async def transfer_member(
        self,
        member_id: str,
    ) -> None:
        """Transfer the ownership to a member. The account has one owner. The present one stays
        in it as a developer, and only the new one can give it back. Both get a mail. In a
        browser, the password must have been given within the last 5 minutes."""
        await self._send(
            "POST",
            f"/user/members/{quote(member_id, safe='')}/transfer",
        )

    async def update_account(
        self,
        *,
        name: str,
    ) -> Account:
        """Give the account another name. Everybody who belongs to the account sees it, and
        whoever is invited to it.

        Args:
            name: The name.
        """
        response = await self._send(
            "PATCH",
            "/user/account",
            body={"name": name},
        )
        return decoded(Account, response.body)

    async def update_api_key(
        self,
        api_key_id: str,
        *,
        name: str | None = None,
        allowed_ips: Sequence[str] | None = None,
    ) -> ApiKey:
        """Change the name or the allowed addresses of an API key. Takes effect everywhere within
        a second. Fields that are left out keep their values.

        Args:
            name: Its name.
            allowed_ips: Addresses and networks that the key may be used from. An empty
                list allows all.
        """
        response = await self._send(
            "PATCH",
            f"/user/api-keys/{quote(api_key_id, safe='')}",
            body={"name": name, "allowedIps": allowed_ips},
        )
        return decoded(ApiKey, response.body)

    async def update_domain(
        self,
        domain: str,
        *,
        client_id: str | None = None,
        client_secret: str | None = None,
        role: Literal["developer", "billing", "viewer"] | None = None,
        required: bool | None = None,
    ) -> SignInDomain:
        """Change what is set of a mail domain and its issuer. Another issuer knows other people:
        remove the domain and claim it anew for that. In a browser, the password must have
        been given within the last 5 minutes.

        Args:
            client_id: The client that the issuer knows this service as.
            client_secret: The secret of that client. It is never shown. Null removes the
                secret.
            role: `developer`: documents, templates, keys and callbacks. `billing`: plan,
                purchases and invoices. `viewer`: sees documents, templates and logs, and
                changes nothing.
            required: Whether members with addresses of the domain may open the account
                only through the issuer, within a second. The owner may always open it.
        """
        response = await self._send(
            "PATCH",
            f"/user/domains/{quote(domain, safe='')}",
            body={"clientId": client_id, "clientSecret": client_secret, "role": role, "required": required},
        )
        return decoded(SignInDomain, response.body)

    async def update_member(
        self,
        member_id: str,
        *,
        role: Literal["developer", "billing", "viewer"],
    ) -> Member:
        """Give a member another role. In force everywhere within a second, also for sessions
        that are open.

        Args:
            role: `developer`: documents, templates, keys and callbacks. `billing`: plan,
                purchases and invoices. `viewer`: sees documents, templates and logs, and
                changes nothing.
        """
        response = await self._send(
            "PATCH",
            f"/user/members/{quote(member_id, safe='')}",
            body={"role": role},
        )
        return decoded(Member, response.body)

    async def update_notification_thresholds(
        self,
        *,
        quota_percents: Sequence[Literal[50, 75, 80, 90, 95, 100]] | None = None,
        failure_percent: int | None = None,
        failure_renders: int | None = None,
        webhook_failures: int | None = None,
    ) -> Notifications:
        """Set from when on the account is alerted. For all people of the account. What is left
        out stays as it is.

        Args:
            quota_percents: Percentages of the period's renders, and of the cap of
                automatic overage, that people are told of, in any order; none: of no
                percentage. Default: 50, 80, 100.
            failure_percent: Renders of an hour of which more than this share fails, in
                percent; default 20.
            failure_renders: The fewest renders of such an hour; default 20.
            webhook_failures: Attempts to deliver to one address that fail in a row; an
                hour of failures counts as well. Default 20.
        """
        response = await self._send(
            "PATCH",
            "/user/notifications/thresholds",
            body={"quotaPercents": quota_percents, "failurePercent": failure_percent, "failureRenders": failure_renders, "webhookFailures": webhook_failures},
        )
        return decoded(Notifications, response.body)

    async def update_notifications(
        self,
        *,
        quota: bool | None = None,
        spend: bool | None = None,
        failures: bool | None = None,
        webhooks: bool | None = None,
    ) -> Notifications:
        """Choose which alerts the person gets by mail. For this account, and nobody else of it.
        Kinds that are left out stay as they are.

        Args:
            quota: Mails about the use of the quota.
            spend: Mails about what automatic overage has spent of its cap.
            failures: Mails about hours in which many renders fail.
            webhooks: Mails about addresses at which callbacks do not arrive.
        """
        response = await self._send(
            "PATCH",
            "/user/notifications",
            body={"quota": quota, "spend": spend, "failures": failures, "webhooks": webhooks},
        )
        return decoded(Notifications, response.body)

    async def update_passkey(
        self,
        passkey_id: str,
        *,
        name: str,
    ) -> Passkey:
        """Give a passkey another name.

        Args:
            name: By which the person tells it from others.
        """
        response = await self._send(
            "PATCH",
            f"/auth/passkeys/{quote(passkey_id, safe='')}",
            body={"name": name},
        )
        return decoded(Passkey, response.body)

    async def update_session(
        self,
        *,
        account_id: str,
    ) -> NewSession:
        """Act for another account of the person. For the session of a browser, which continues
        under a new cookie; the next sign-in of the person in a browser acts for the same
        account. An access token of POST /auth/login acts for the account that the person has
        registered.

        Args:
            account_id: One of GET /auth/accounts.
        """
        response = await self._send(
            "PATCH",
            "/auth/session",
            body={"accountId": account_id},
        )
        return decoded(NewSession, response.body)

    async def update_template(
        self,
        template_id: str,
        *,
        name: str | None = None,
        content: str | None = None,
        sample_data: str | None = None,
        data_schema: Any | None = None,
        options: RenderOptions | None = None,
        message: str | None = None,
        base_version_id: str | None = None,
    ) -> Template:
        """Change a template. Saves a new version. Fields that are left out keep their values.
        The latest 1000 versions of a template are kept; plans without version history keep
        only the latest. Older versions can no longer be pinned or rolled back to.

        Args:
            name: Its name.
            content: HTML with Liquid: `{{name}}`, `{{a.b}}`, loops, conditions, filters.
            sample_data: A JSON document serialized as a string.
            data_schema: A JSON Schema of draft 2020-12 that the data of each render must
                fit, as an object or serialized as a string; null for none.
            options: Options for each render of the template. Options of the render itself
                have precedence. `assetHeaders` and `cookies` cannot be saved. null for none.
            message: What this version changes, for whoever reads the history of the
                template.
            base_version_id: The version that the change was made from: it is rejected
                when the template has been saved since. Without it the change is made to the
                present version.
        """
        response = await self._send(
            "PATCH",
            f"/user/templates/{quote(template_id, safe='')}",
            body={"name": name, "content": content, "sampleData": sample_data, "dataSchema": data_schema, "options": options, "message": message, "baseVersionId": base_version_id},
        )
        return decoded(Template, response.body)

    async def upgrade_preview(
        self,
        *,
        plan: Literal["free", "starter", "professional", "business"],
    ) -> UpgradePreview:
        """Preview the price of a change to a higher plan. The price is valid for half an hour."""
        response = await self._send(
            "GET",
            "/user/subscription/upgrade-preview",
            query={"plan": plan},
        )
        return decoded(UpgradePreview, response.body)

    async def verification_domain(
        self,
        domain: str,
    ) -> SignInDomain:
        """Look for the record that shows that the domain is the account’s. The record may stay
        or go afterwards. Whoever shows the same for another account later takes the domain
        over, unless this record is still there."""
        response = await self._send(
            "POST",
            f"/user/domains/{quote(domain, safe='')}/verification",
        )
        return decoded(SignInDomain, response.body)

    async def verification_email(
        self,
    ) -> None:
        """Request a link that confirms the address of the account. At most three links an hour
        are sent. A link works once, for a day."""
        await self._send(
            "POST",
            "/auth/email/verification",
        )
