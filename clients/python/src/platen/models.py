# Made by `make generate` from docs/openapi.json; do not edit.
"""The requests and responses of the API.

Requests are typed dictionaries with the names of the API, as the documentation has them. Responses are
dataclasses with names as Python has them, and with times in UTC.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from ._decoding import each, each_value, maybe, time_of

if sys.version_info >= (3, 11):
    from typing import NotRequired, TypedDict
else:
    from typing_extensions import NotRequired, TypedDict

ErrorCode = Literal[
    "VALIDATION",
    "MALFORMED_JSON",
    "UNSUPPORTED_MEDIA_TYPE",
    "BILLING_NOT_CONFIGURED",
    "PAYMENT_EVENT_REFUSED",
    "NOT_SUBSCRIBED",
    "NOT_SOLD",
    "PAYMENT_FAILED",
    "UNAUTHENTICATED",
    "ACCOUNT_SUSPENDED",
    "ADDRESS_NOT_ALLOWED",
    "ORIGIN_NOT_ALLOWED",
    "PASSWORD_REQUIRED",
    "PLAN_LIMIT",
    "QUOTA_EXCEEDED",
    "TEST_QUOTA_EXCEEDED",
    "STORAGE_FULL",
    "KEY_CAPACITY",
    "TEMPLATE_CAPACITY",
    "REGISTRATION_CLOSED",
    "INVITATION_INVALID",
    "LINK_INVALID",
    "CONFIRMATION_UNPROVEN",
    "ADDRESS_NOT_CONFIRMED",
    "WRONG_PASSWORD",
    "NOT_FOUND",
    "METHOD_NOT_ALLOWED",
    "UPLOAD_TOO_SLOW",
    "NOT_RETRYABLE",
    "JOB_ENDED",
    "IDEMPOTENCY_MISMATCH",
    "IDEMPOTENCY_IN_PROGRESS",
    "GONE",
    "INPUT_TOO_LARGE",
    "BATCH_TOO_LARGE",
    "RANGE_NOT_SATISFIABLE",
    "RATE_LIMITED",
    "TOO_MANY_WAITING",
    "TOO_MANY_UPLOADS",
    "TOO_MANY_FAILURES",
    "TOO_MANY_REGISTRATIONS",
    "TOO_MANY_MAILS",
    "INTERNAL",
    "UNAVAILABLE",
    "OVERAGE_PENDING",
    "INVALID_URL",
    "URL_BLOCKED",
    "URL_UNREACHABLE",
    "SELECTOR_TIMEOUT",
    "CONDITION_TIMEOUT",
    "EXCEPTION_THROWN",
    "ASSET_FAILED",
    "GLYPH_MISSING",
    "DOCUMENT_FAULT",
    "COOKIE_INVALID",
    "PAGE_RANGE_INVALID",
    "TEMPLATE_ERROR",
    "DOCUMENT_LIMIT",
    "OUTPUT_TOO_LARGE",
    "RENDER_TIMEOUT",
    "BROWSER_CRASHED",
    "WORKER_LOST",
    "RENDER_FAILED",
    "RETRY_SCHEDULED",
    "CANCELLED",
    "EXPIRED",
]
JobStatus = Literal[
    "queued",
    "processing",
    "completed",
    "failed",
    "cancelled",
]
ItemStatus = Literal[
    "queued",
    "processing",
    "completed",
    "failed",
]

class RenderRequest(TypedDict):
    """Exactly one of `html`, `url`, `templateId` is required. `data` needs `templateId`,
    `templateVersionId` needs `templateId`."""

    html: NotRequired[str]
    """Input source: an HTML document."""
    url: NotRequired[str]
    """Input source: the http or https address of a page."""
    templateId: NotRequired[str]
    """Input source: a saved template of the account."""
    templateVersionId: NotRequired[str]
    """Pins a version of the template; otherwise its current one is used."""
    data: NotRequired[Mapping[str, Any]]
    """Values of the template's variables."""
    output: NotRequired[Literal["binary", "url"]]
    """`binary` responds with the PDF, `url` with a signed address to download it from."""
    filename: NotRequired[str]
    """Name of the PDF file."""
    executionMode: NotRequired[Literal["sync", "async"]]
    """`sync` waits a while for the render to end; `async` responds with 202 at once."""
    webhookUrl: NotRequired[str]
    """Where a signed callback goes when the render has ended, with `executionMode` = `async`;
    professional and business plans."""
    report: NotRequired[bool]
    """The same as `report` of the options, before which it comes."""
    strictData: NotRequired[bool]
    """The same as `strictData` of the options, before which it comes."""
    options: NotRequired[RenderOptions]


class RenderOptionsBlockRequests(TypedDict):
    """What the document may not request: addresses that match a pattern, in which * stands for
    any characters, and kinds of requests (stylesheet, image, font, media, script, frame,
    fetch, other). The document itself, requests of workers and web sockets are not blocked."""

    urls: NotRequired[Sequence[str]]
    kinds: NotRequired[Sequence[Literal["stylesheet", "image", "font", "media", "script", "frame", "fetch", "other"]]]


class RenderOptionsCookies(TypedDict):
    name: str
    value: str
    url: NotRequired[str]
    domain: NotRequired[str]
    path: NotRequired[str]
    secure: NotRequired[bool]
    httpOnly: NotRequired[bool]
    sameSite: NotRequired[Literal["Strict", "Lax", "None"]]


class RenderOptionsFailOn(TypedDict):
    """What makes the render fail, by what its report says: a status of the source URL
    (pageStatus) or of anything that the document requests (assetStatus), such as ["400-599"],
    what cannot be loaded at all or not be shown (assetUnreachable), a script that throws
    (exception), a character that no font has (missingGlyph), or anything that an inspection
    of the printed document finds: overflow, shrunk, hidden, covered, rasterised, blank,
    undecodable, embedded, stillChanging, redirect, deadLink, pageRules, unsupportedCss,
    garbled, fontSynthesis. An empty pageStatus prints error pages, too. Requests to
    ignoreHosts fail no render. The codes are URL_UNREACHABLE, ASSET_FAILED, EXCEPTION_THROWN,
    GLYPH_MISSING and DOCUMENT_FAULT."""

    pageStatus: NotRequired[Sequence[str]]
    assetStatus: NotRequired[Sequence[str]]
    assetUnreachable: NotRequired[bool]
    exception: NotRequired[bool]
    missingGlyph: NotRequired[bool]
    ignoreHosts: NotRequired[Sequence[str]]
    overflow: NotRequired[bool]
    shrunk: NotRequired[bool]
    hidden: NotRequired[bool]
    covered: NotRequired[bool]
    rasterised: NotRequired[bool]
    blank: NotRequired[bool]
    undecodable: NotRequired[bool]
    embedded: NotRequired[bool]
    stillChanging: NotRequired[bool]
    redirect: NotRequired[bool]
    deadLink: NotRequired[bool]
    pageRules: NotRequired[bool]
    unsupportedCss: NotRequired[bool]
    garbled: NotRequired[bool]
    fontSynthesis: NotRequired[bool]


class Margin(TypedDict):
    """Lengths with a unit (px, in, cm, mm, pt, pc, Q). Default 0 on each side, 1cm where a
    header or footer is."""

    top: NotRequired[str]
    right: NotRequired[str]
    bottom: NotRequired[str]
    left: NotRequired[str]


class RenderOptionsMediaFeatures(TypedDict):
    """What media queries find: colorScheme (light, dark), reducedMotion (reduce, no-preference),
    contrast (more, less, custom, no-preference) and forcedColors (active, none)."""

    colorScheme: NotRequired[Literal["light", "dark"]]
    reducedMotion: NotRequired[Literal["reduce", "no-preference"]]
    contrast: NotRequired[Literal["more", "less", "custom", "no-preference"]]
    forcedColors: NotRequired[Literal["active", "none"]]


class PdfMetadata(TypedDict):
    """Document information of the PDF. Fields that are not given stay as the document has them."""

    title: NotRequired[str]
    author: NotRequired[str]
    subject: NotRequired[str]
    creator: NotRequired[str]
    producer: NotRequired[str]
    keywords: NotRequired[Sequence[str]]


class RenderOptionsViewport(TypedDict):
    """Size of the window that the document is loaded into, which its scripts find and by which
    it chooses pictures. Width and height in CSS pixels; with deviceScaleFactor 50,000,000
    pixels at most. It does not change the paper. Without it scripts find a window as large as
    the printable part of a page."""

    width: int
    height: int
    deviceScaleFactor: NotRequired[float]
    """Default 1."""


class Watermark(TypedDict):
    """A text over the content of every page."""

    text: str
    opacity: NotRequired[float]
    """Default 0.15."""
    rotation: NotRequired[float]
    """Degrees, counter-clockwise. Default 45."""
    color: NotRequired[str]
    """A CSS colour. Default #888888."""


class RenderOptions(TypedDict):
    assetHeaders: NotRequired[Mapping[str, str]]
    """Sent when protected assets are fetched: to the source URL's origin, or to the origins
    (scheme, host and port) that the HTML's own markup or the template's source names; never
    to those that come from filled-in data."""
    assetOrigins: NotRequired[Sequence[str]]
    """The origins that assetHeaders are sent to, in place of those that are found."""
    baseUrl: NotRequired[str]
    """The address against which relative addresses in HTML and templates are resolved, those of
    assets and of links, such as https://assets.example/invoices/. `<base href>` of the
    document comes before it. Not for a source URL, which has an address of its own."""
    bestEffort: NotRequired[bool]
    """Print the document as it is, in place of failing, if it has not been loaded or what is
    waited for has not come after three quarters of the time (over 20 seconds: 5 seconds
    before its end). A render whose document has not arrived at all still fails. Default
    false."""
    blockRequests: NotRequired[RenderOptionsBlockRequests]
    """What the document may not request: addresses that match a pattern, in which * stands for
    any characters, and kinds of requests (stylesheet, image, font, media, script, frame,
    fetch, other). The document itself, requests of workers and web sockets are not blocked."""
    cookies: NotRequired[Sequence[RenderOptionsCookies]]
    """Cookies that are set before the document is loaded: each with a url, or with a domain and
    path. They are sent as browsers send them. For HTML and templates every host is another
    site, which only gets cookies with sameSite None and secure."""
    csp: NotRequired[str]
    """A Content-Security-Policy that the document is loaded under."""
    delayMs: NotRequired[int]
    """Milliseconds to wait after loading. Default 0."""
    displayHeaderFooter: NotRequired[bool]
    """Print headerTemplate and footerTemplate in the margins. Default false."""
    failOn: NotRequired[RenderOptionsFailOn]
    """What makes the render fail, by what its report says: a status of the source URL
    (pageStatus) or of anything that the document requests (assetStatus), such as ["400-599"],
    what cannot be loaded at all or not be shown (assetUnreachable), a script that throws
    (exception), a character that no font has (missingGlyph), or anything that an inspection
    of the printed document finds: overflow, shrunk, hidden, covered, rasterised, blank,
    undecodable, embedded, stillChanging, redirect, deadLink, pageRules, unsupportedCss,
    garbled, fontSynthesis. An empty pageStatus prints error pages, too. Requests to
    ignoreHosts fail no render. The codes are URL_UNREACHABLE, ASSET_FAILED, EXCEPTION_THROWN,
    GLYPH_MISSING and DOCUMENT_FAULT."""
    firstFooterTemplate: NotRequired[str]
    """HTML that the first page has in place of footerTemplate, with displayHeaderFooter; an
    empty text prints none."""
    firstHeaderTemplate: NotRequired[str]
    """HTML that the first page has in place of headerTemplate, with displayHeaderFooter; an
    empty text prints none."""
    footerTemplate: NotRequired[str]
    """HTML that is printed in the lower margin of each page, with the classes of headerTemplate."""
    format: NotRequired[Literal["Letter", "A4", "A5", "A3", "Legal", "Tabloid"]]
    """Paper format. Default A4."""
    headerTemplate: NotRequired[str]
    """HTML that is printed in the upper margin of each page; elements of the classes date,
    title, url, pageNumber and totalPages are filled in. With templateId it is a template as
    well, filled in with the same data. Pictures, style sheets and fonts may be referred to."""
    height: NotRequired[str]
    """Height of the paper, together with width: a length with a unit, 0.5in to 200in."""
    javascriptEnabled: NotRequired[bool]
    """Run the scripts of the document. Default true."""
    landscape: NotRequired[bool]
    """Turn the paper, so that its long side is horizontal. Default false."""
    lastFooterTemplate: NotRequired[str]
    """HTML that the last page has in place of footerTemplate, with displayHeaderFooter; an empty
    text prints none."""
    lastHeaderTemplate: NotRequired[str]
    """HTML that the last page has in place of headerTemplate, with displayHeaderFooter; an empty
    text prints none."""
    locale: NotRequired[str]
    """Language of the document's scripts and requests (Intl, navigator.language,
    Accept-Language), and of the date in headers and footers, such as de-DE. Default: that of
    the service (PLATEN_LOCALE), en-US unless it has been set."""
    margin: NotRequired[Margin]
    """Lengths with a unit (px, in, cm, mm, pt, pc, Q). Default 0 on each side, 1cm where a
    header or footer is."""
    mediaFeatures: NotRequired[RenderOptionsMediaFeatures]
    """What media queries find: colorScheme (light, dark), reducedMotion (reduce, no-preference),
    contrast (more, less, custom, no-preference) and forcedColors (active, none)."""
    mediaType: NotRequired[Literal["print", "screen"]]
    """The CSS medium that the document is printed for. Default print."""
    metadata: NotRequired[PdfMetadata]
    """Document information of the PDF. Fields that are not given stay as the document has them."""
    omitBackground: NotRequired[bool]
    """Leave out the background that the browser gives a document with a dark color-scheme. All
    other pages are transparent anyway. Default false."""
    outline: NotRequired[bool]
    """Write bookmarks for the headings h1 to h6; the PDF is tagged then. Default false."""
    pageRanges: NotRequired[str]
    """The pages to print, such as 1-3,5,8-; all of them, when it is not given. Pages past the
    last one are left out; when the document has none of them the render fails with
    PAGE_RANGE_INVALID."""
    preferCSSPageSize: NotRequired[bool]
    """Let the document's @page size take precedence over format. Default false."""
    printBackground: NotRequired[bool]
    """Print background colours and images. Default true."""
    report: NotRequired[bool]
    """Keep a report of the render for as long as its output: what the document requested and
    what became of it, its console and exceptions, fonts, characters that no font has, waits,
    and warnings in plain words; of a render that fails, too, with a picture of the page.
    `reportEndpoint` of the job record leads to it. Default false."""
    scale: NotRequired[float]
    """By how much the document is enlarged on the paper. Default 1."""
    scripts: NotRequired[Sequence[str]]
    """Scripts that run in the document once it has been loaded, one after another, with the
    rights of its own scripts. A script that throws fails the render with EXCEPTION_THROWN.
    What a script starts is not waited for: use waitForExpression."""
    shrinkToFit: NotRequired[bool]
    """Print a document that is wider than the page smaller, by a third at most, so that more of
    it is on the paper. If false, all lengths are kept (100mm are 100 mm), and what does not
    fit is cut at the right. Default true."""
    singlePage: NotRequired[bool]
    """Print one page, as tall as the document is at the width of the paper, 200in at most; a
    taller one fails the render with DOCUMENT_LIMIT. What follows the height of the window
    (100vh) is as tall as in a window of the paper, or of viewport. Default false."""
    strictData: NotRequired[bool]
    """Whether a template that names what is not in its data fails with TEMPLATE_ERROR, which
    says the name and the line. Names in conditions and before the filter `default` may be
    missing. Without it such a name prints nothing, and a report warns of it. Default false."""
    styles: NotRequired[Sequence[str]]
    """Style sheets that are added to the document once it has been loaded, after its own. They
    have no @import. The document's policy does not apply to them."""
    tableOfContents: NotRequired[bool]
    """Fill in the numbers of pages: each element with the attribute data-page in a link within
    the document, such as `<a href="#sums">Sums <span data-page></span></a>`, gets the number
    of the page that the link leads to. Default false."""
    tagged: NotRequired[bool]
    """Write a tagged (accessible) PDF; costs about a quarter of the speed. Headers and footers
    are printed as artefacts, which readers skip, and their links lead nowhere. Default false."""
    timeoutMs: NotRequired[int]
    """Deadline of the whole render. Default 30,000 and delayMs, at most the plan's."""
    timezone: NotRequired[str]
    """Time zone of the document's scripts, such as Europe/Berlin, in upper or lower case.
    Default UTC, as the service has it."""
    userAgent: NotRequired[str]
    """The User-Agent that requests are sent with, and that scripts find."""
    viewport: NotRequired[RenderOptionsViewport]
    """Size of the window that the document is loaded into, which its scripts find and by which
    it chooses pictures. Width and height in CSS pixels; with deviceScaleFactor 50,000,000
    pixels at most. It does not change the paper. Without it scripts find a window as large as
    the printable part of a page."""
    waitForEvent: NotRequired[str]
    """The name of an event that must have been dispatched in the document before it is printed,
    such as document.dispatchEvent(new Event('ready'))."""
    waitForExpression: NotRequired[str]
    """An expression of JavaScript that must be true in the document before it is printed, such
    as window.ready === true. A promise is awaited. While the expression throws or is not
    true, it is evaluated again."""
    waitForSelector: NotRequired[str]
    """A CSS selector that must be in the document before it is printed."""
    waitUntil: NotRequired[Literal["load", "domcontentloaded", "networkidle"]]
    """How far the document has to get: with its pictures and style sheets (load), without them
    (domcontentloaded), or until it fetches nothing more (networkidle). Default load."""
    watermark: NotRequired[Watermark]
    """A text over the content of every page."""
    width: NotRequired[str]
    """Width of the paper, in place of format and together with height: a length with a unit,
    0.5in to 200in."""


class BatchRequest(TypedDict):
    items: Sequence[BatchItemInput]
    """What to render. How many there may be is for the plan to say."""
    webhookUrl: NotRequired[str]
    """Where a signed callback goes when the batch has ended; professional and business plans."""
    expiresInHours: NotRequired[int]
    """How long the outputs are kept after the end of the batch; at most, and by default, as long
    as the plan keeps them."""
    notes: NotRequired[str]
    """Kept with the batch, for its owner."""
    metadata: NotRequired[Mapping[str, str]]
    """Kept with the batch, for its owner."""


class BatchItemInput(TypedDict):
    id: str
    """Names the item; unique within the batch."""
    html: NotRequired[str]
    """Input source: an HTML document."""
    url: NotRequired[str]
    """Input source: the http or https address of a page."""
    templateId: NotRequired[str]
    """Input source: a saved template of the account."""
    templateVersionId: NotRequired[str]
    """Pins a version of the template; otherwise its current one is used."""
    data: NotRequired[Mapping[str, Any]]
    """Values of the template's variables."""
    filename: NotRequired[str]
    """Name of the PDF file."""
    report: NotRequired[bool]
    """The same as `report` of the options, before which it comes."""
    strictData: NotRequired[bool]
    """The same as `strictData` of the options, before which it comes."""
    options: NotRequired[RenderOptions]


class Registration(TypedDict):
    email: str
    """Upper and lower case make no difference."""
    password: str
    invitation: NotRequired[str]
    """The code of an invitation, where accounts are made with one only."""


class Credentials(TypedDict):
    email: str
    """Upper and lower case make no difference."""
    password: str


class SessionRequest(TypedDict):
    """Either `email` and `password`, or `oneTimeToken`."""

    email: NotRequired[str]
    """Upper and lower case make no difference."""
    password: NotRequired[str]
    oneTimeToken: NotRequired[str]
    """What stands behind `#once=` in the link that standalone prints when it starts."""


class PasswordChange(TypedDict):
    currentPassword: str
    newPassword: str


class ForgottenPassword(TypedDict):
    email: str


class PasswordReset(TypedDict):
    token: str
    """What stands behind `#token=` in the link of the mail."""
    password: str


class EmailVerification(TypedDict):
    token: str
    """What stands behind `#token=` in the link of the mail."""
    password: NotRequired[str]
    """The present password of the account."""
    newPassword: NotRequired[str]
    """A password for whoever did not make the account, and takes it over."""


class ApiKeyRequest(TypedDict):
    name: str
    mode: NotRequired[Literal["live", "test"]]
    """Renders of `test` keys carry a watermark and use no quota."""
    allowedIps: NotRequired[Sequence[str]]
    """Addresses and networks that the key may be used from; none: from everywhere."""


class ApiKeyChange(TypedDict):
    name: NotRequired[str]
    allowedIps: NotRequired[Sequence[str]]
    """Addresses and networks that the key may be used from; none: from everywhere."""


class TemplateRequest(TypedDict):
    name: str
    content: str
    """HTML with Liquid: `{{name}}`, `{{a.b}}`, loops, conditions, filters."""
    sampleData: NotRequired[str]
    """A JSON document serialized as a string."""
    dataSchema: NotRequired[Any]
    """A JSON Schema of draft 2020-12 that the data of each render must fit, as an object or
    serialized as a string; null for none."""
    options: NotRequired[RenderOptions | None]
    """Options of each render of the template; those of the render itself come first. All but
    `assetHeaders` and `cookies`; null for none."""


class PreviewRequest(TypedDict):
    """Exactly one of `content` and `templateId` is required."""

    content: NotRequired[str]
    """HTML with Liquid: `{{name}}`, `{{a.b}}`, loops, conditions, filters."""
    templateId: NotRequired[str]
    """A saved template instead of `content`."""
    sampleData: NotRequired[str]
    """A JSON document serialized as a string; without it that of the saved template, or nothing."""
    dataSchema: NotRequired[Any]
    """Checks the sample data, as `dataSchema` of a template does; without it, and with
    `templateId`, that of the saved template."""
    output: NotRequired[Literal["html", "pdf"]]
    """`pdf` renders the HTML as a test key would: it counts as a test render, and is followed as
    one."""
    options: NotRequired[RenderOptions]
    """Of the PDF; `locale`, `timezone` and `strictData` also of the HTML. With `templateId`
    those of the saved template come after them."""


class TemplateChange(TypedDict):
    name: NotRequired[str]
    content: NotRequired[str]
    """HTML with Liquid: `{{name}}`, `{{a.b}}`, loops, conditions, filters."""
    sampleData: NotRequired[str]
    """A JSON document serialized as a string."""
    dataSchema: NotRequired[Any]
    """A JSON Schema of draft 2020-12 that the data of each render must fit, as an object or
    serialized as a string; null for none."""
    options: NotRequired[RenderOptions | None]
    """Options of each render of the template; those of the render itself come first. All but
    `assetHeaders` and `cookies`; null for none."""


class UserRenderRequest(TypedDict):
    """Exactly one of `html`, `url`, `templateId` is required. `data` needs `templateId`,
    `templateVersionId` needs `templateId`."""

    html: NotRequired[str]
    """Input source: an HTML document."""
    url: NotRequired[str]
    """Input source: the http or https address of a page."""
    templateId: NotRequired[str]
    """Input source: a saved template of the account."""
    templateVersionId: NotRequired[str]
    """Pins a version of the template; otherwise its current one is used."""
    data: NotRequired[Mapping[str, Any]]
    """Values of the template's variables."""
    output: NotRequired[Literal["binary", "url"]]
    """`binary` responds with the PDF, `url` with a signed address to download it from."""
    filename: NotRequired[str]
    """Name of the PDF file."""
    executionMode: NotRequired[Literal["sync", "async"]]
    """`sync` waits a while for the render to end; `async` responds with 202 at once."""
    webhookUrl: NotRequired[str]
    """Where a signed callback goes when the render has ended, with `executionMode` = `async`;
    professional and business plans."""
    report: NotRequired[bool]
    """The same as `report` of the options, before which it comes."""
    strictData: NotRequired[bool]
    """The same as `strictData` of the options, before which it comes."""
    options: NotRequired[RenderOptions]
    mode: NotRequired[Literal["live", "test"]]
    """As an API key of this mode would ask for it."""


class WebhookTest(TypedDict):
    url: str
    """Where it goes."""


@dataclass(frozen=True, kw_only=True)
class WebhookDeliveryDetailPayload:
    """The body that is sent."""

    event: Literal["batch.completed", "render.completed", "render.failed", "webhook.test"]
    job_id: str
    status: str
    status_url: str
    zip_url: str | None = None
    file_url: str | None = None
    completed_at: datetime
    error: Failure | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WebhookDeliveryDetailPayload:
        return cls(
            event=data["event"],
            job_id=data["jobId"],
            status=data["status"],
            status_url=data["statusUrl"],
            zip_url=data.get("zipUrl"),
            file_url=data.get("fileUrl"),
            completed_at=time_of(data["completedAt"]),
            error=maybe(Failure.from_json)(data.get("error")),
        )


@dataclass(frozen=True, kw_only=True)
class Failure:
    code: str
    """One of the codes that docs/errors.md lists."""
    message: str
    """What has happened, in words."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Failure:
        return cls(
            code=data["code"],
            message=data["message"],
        )


@dataclass(frozen=True, kw_only=True)
class AcceptedJob:
    job_id: str
    status: Literal["queued"]
    status_url: str
    file_url: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AcceptedJob:
        return cls(
            job_id=data["jobId"],
            status=data["status"],
            status_url=data["statusUrl"],
            file_url=data["fileUrl"],
        )


@dataclass(frozen=True, kw_only=True)
class JobList:
    total: int
    """How many there are in all."""
    limit: int
    offset: int
    jobs: list[JobRecord]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> JobList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            jobs=each(JobRecord.from_json)(data["jobs"]),
        )


@dataclass(frozen=True, kw_only=True)
class JobRecord:
    job_id: str
    status: JobStatus
    input_mode: Literal["html", "url", "template"]
    output_mode: Literal["binary", "url"]
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None
    output_available: bool
    output_expires_at: datetime | None
    """End of the retention window."""
    download_url_endpoint: str
    file_name: str
    pdf_size: int
    """Bytes; 0 until completed."""
    pages: int
    """0 until completed."""
    processing_time_ms: int
    attempt_count: int
    retry_attempt: int | None
    max_attempts: int
    will_retry: bool
    dead_lettered: bool
    """True once the job has failed for good: stop polling."""
    error: Failure | None
    """Can be present while willRetry is true."""
    report_endpoint: str | None = None
    """Where its report is: from its end on, if one was asked for."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> JobRecord:
        return cls(
            job_id=data["jobId"],
            status=data["status"],
            input_mode=data["inputMode"],
            output_mode=data["outputMode"],
            created_at=time_of(data["createdAt"]),
            updated_at=time_of(data["updatedAt"]),
            completed_at=maybe(time_of)(data["completedAt"]),
            output_available=data["outputAvailable"],
            output_expires_at=maybe(time_of)(data["outputExpiresAt"]),
            download_url_endpoint=data["downloadUrlEndpoint"],
            file_name=data["fileName"],
            pdf_size=data["pdfSize"],
            pages=data["pages"],
            processing_time_ms=data["processingTimeMs"],
            attempt_count=data["attemptCount"],
            retry_attempt=data["retryAttempt"],
            max_attempts=data["maxAttempts"],
            will_retry=data["willRetry"],
            dead_lettered=data["deadLettered"],
            error=maybe(Failure.from_json)(data["error"]),
            report_endpoint=data.get("reportEndpoint"),
        )


@dataclass(frozen=True, kw_only=True)
class DownloadUrl:
    url: str
    """Signed download address; no key is needed for it."""
    expires_at: datetime
    """15 minutes from now, or the end of the retention window."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DownloadUrl:
        return cls(
            url=data["url"],
            expires_at=time_of(data["expiresAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportPhases:
    name: str
    ms: int

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportPhases:
        return cls(
            name=data["name"],
            ms=data["ms"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportRequests:
    url: str
    """Without user, password, fragment, and values of its query that may be secrets. Relative
    where the document has it so and there is no baseUrl."""
    kind: str
    """page, frame, stylesheet, image, font, script, fetch, websocket, …."""
    outcome: Literal["pending", "loaded", "redirected", "error", "unreachable", "blocked", "cancelled"]
    status: int | None
    """Null without a response."""
    rule: str | None
    """What decided it: cache, blockRequests, egress, cors, content security policy, …; null for
    nothing."""
    error: str | None
    bytes: int
    """As received; 0 from the cache."""
    ms: int

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportRequests:
        return cls(
            url=data["url"],
            kind=data["kind"],
            outcome=data["outcome"],
            status=data["status"],
            rule=data["rule"],
            error=data["error"],
            bytes=data["bytes"],
            ms=data["ms"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportConsole:
    level: str
    text: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportConsole:
        return cls(
            level=data["level"],
            text=data["text"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportExceptions:
    message: str
    at: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportExceptions:
        return cls(
            message=data["message"],
            at=data["at"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportFontsUsed:
    family: str
    web_font: bool

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportFontsUsed:
        return cls(
            family=data["family"],
            web_font=data["webFont"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportFonts:
    asked: list[str]
    """As the style sheet names them."""
    used: list[RenderReportFontsUsed]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportFonts:
        return cls(
            asked=data["asked"],
            used=each(RenderReportFontsUsed.from_json)(data["used"]),
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportMissingGlyphs:
    character: str
    code_point: str
    page: int
    count: int

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportMissingGlyphs:
        return cls(
            character=data["character"],
            code_point=data["codePoint"],
            page=data["page"],
            count=data["count"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportObservations:
    rule: Literal["overflow", "shrunk", "hidden", "covered", "rasterised", "blank", "undecodable", "embedded", "stillChanging", "redirect", "deadLink", "pageRules", "unsupportedCss", "garbled", "fontSynthesis"]
    message: str
    selector: str | None
    page: int | None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportObservations:
        return cls(
            rule=data["rule"],
            message=data["message"],
            selector=data["selector"],
            page=data["page"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportWaits:
    name: str
    ms: int
    outcome: Literal["reached", "given up", "failed"]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportWaits:
        return cls(
            name=data["name"],
            ms=data["ms"],
            outcome=data["outcome"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReport:
    job_id: str
    status: str
    engine: str
    """The browser and its version; empty where that was lost."""
    attempts: list[RenderAttempt]
    """The first one first; the rest of the report is of the last one."""
    phases: list[RenderReportPhases]
    requests: list[RenderReportRequests]
    """500 at most, those of workers among them; data in addresses is not."""
    console: list[RenderReportConsole]
    """100 lines at most."""
    exceptions: list[RenderReportExceptions]
    """50 at most."""
    fonts: list[RenderReportFonts]
    missing_glyphs: list[RenderReportMissingGlyphs]
    """Characters that no font has, 200 at most. U+FFFD stands for one that is not known: in
    several fonts, the first one of each."""
    observations: list[RenderReportObservations]
    """What a look at the document and at its printed pages has found, 60 at most."""
    waits: list[RenderReportWaits]
    pages: int
    """0 when it has failed."""
    size: int
    """Bytes of the PDF; 0 when it has failed."""
    error: Failure | None
    picture: RenderReportPicture | None
    """The page at the moment when the render failed, where it could be drawn."""
    warnings: list[str]
    """What the author of the document can act on."""
    truncated: list[str]
    """The lists that have lost something."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReport:
        return cls(
            job_id=data["jobId"],
            status=data["status"],
            engine=data["engine"],
            attempts=each(RenderAttempt.from_json)(data["attempts"]),
            phases=each(RenderReportPhases.from_json)(data["phases"]),
            requests=each(RenderReportRequests.from_json)(data["requests"]),
            console=each(RenderReportConsole.from_json)(data["console"]),
            exceptions=each(RenderReportExceptions.from_json)(data["exceptions"]),
            fonts=each(RenderReportFonts.from_json)(data["fonts"]),
            missing_glyphs=each(RenderReportMissingGlyphs.from_json)(data["missingGlyphs"]),
            observations=each(RenderReportObservations.from_json)(data["observations"]),
            waits=each(RenderReportWaits.from_json)(data["waits"]),
            pages=data["pages"],
            size=data["size"],
            error=maybe(Failure.from_json)(data["error"]),
            picture=maybe(RenderReportPicture.from_json)(data["picture"]),
            warnings=data["warnings"],
            truncated=data["truncated"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderAttempt:
    number: int
    started_at: datetime
    ended_at: datetime | None
    outcome: Literal["running", "completed", "failed", "cancelled"]
    error: Failure | None
    phases: RenderAttemptPhases | None
    """Null while it runs, and where they are not known."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderAttempt:
        return cls(
            number=data["number"],
            started_at=time_of(data["startedAt"]),
            ended_at=maybe(time_of)(data["endedAt"]),
            outcome=data["outcome"],
            error=maybe(Failure.from_json)(data["error"]),
            phases=maybe(RenderAttemptPhases.from_json)(data["phases"]),
        )


@dataclass(frozen=True, kw_only=True)
class RenderAttemptPhases:
    """Milliseconds of each part, one after the other; up to where it failed."""

    page: int
    load: int
    wait: int
    print: int
    finish: int

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderAttemptPhases:
        return cls(
            page=data["page"],
            load=data["load"],
            wait=data["wait"],
            print=data["print"],
            finish=data["finish"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportPicture:
    media_type: str
    data: str
    """Base64."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportPicture:
        return cls(
            media_type=data["mediaType"],
            data=data["data"],
        )


@dataclass(frozen=True, kw_only=True)
class AcceptedBatch:
    job_id: str
    status: Literal["queued"]
    item_count: int
    total_count: int
    status_url: str
    estimated_completion_time: datetime
    expires_at: datetime

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AcceptedBatch:
        return cls(
            job_id=data["jobId"],
            status=data["status"],
            item_count=data["itemCount"],
            total_count=data["totalCount"],
            status_url=data["statusUrl"],
            estimated_completion_time=time_of(data["estimatedCompletionTime"]),
            expires_at=time_of(data["expiresAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class BatchList:
    total: int
    """How many there are in all."""
    limit: int
    offset: int
    batches: list[BatchSummary]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BatchList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            batches=each(BatchSummary.from_json)(data["batches"]),
        )


@dataclass(frozen=True, kw_only=True)
class BatchSummaryJob:
    id: str
    status: JobStatus
    access_expired: bool
    """Whether the outputs can be fetched no more."""
    total_count: int
    completed_count: int
    failed_count: int
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None
    finished_at: datetime | None
    expires_at: datetime
    notes: str
    metadata: dict[str, str]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BatchSummaryJob:
        return cls(
            id=data["id"],
            status=data["status"],
            access_expired=data["accessExpired"],
            total_count=data["totalCount"],
            completed_count=data["completedCount"],
            failed_count=data["failedCount"],
            created_at=time_of(data["createdAt"]),
            updated_at=time_of(data["updatedAt"]),
            completed_at=maybe(time_of)(data["completedAt"]),
            finished_at=maybe(time_of)(data["finishedAt"]),
            expires_at=time_of(data["expiresAt"]),
            notes=data["notes"],
            metadata=data["metadata"],
        )


@dataclass(frozen=True, kw_only=True)
class BatchSummary:
    job_id: str
    status: JobStatus
    """`completed` when every item has ended, whatever came of each."""
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None
    finished_at: datetime | None
    """When the last item ended, also of a batch that was cancelled."""
    expires_at: datetime
    """Until when outputs can be fetched; counted anew from the end of the batch."""
    zip_url: str
    manifest_available: bool
    manifest_download_url_endpoint: str
    progress: BatchProgress
    estimated_completion_time: datetime | None
    job: BatchSummaryJob

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BatchSummary:
        return cls(
            job_id=data["jobId"],
            status=data["status"],
            created_at=time_of(data["createdAt"]),
            updated_at=time_of(data["updatedAt"]),
            completed_at=maybe(time_of)(data["completedAt"]),
            finished_at=maybe(time_of)(data["finishedAt"]),
            expires_at=time_of(data["expiresAt"]),
            zip_url=data["zipUrl"],
            manifest_available=data["manifestAvailable"],
            manifest_download_url_endpoint=data["manifestDownloadUrlEndpoint"],
            progress=BatchProgress.from_json(data["progress"]),
            estimated_completion_time=maybe(time_of)(data["estimatedCompletionTime"]),
            job=BatchSummaryJob.from_json(data["job"]),
        )


@dataclass(frozen=True, kw_only=True)
class BatchProgress:
    total: int
    completed: int
    failed: int
    pending: int
    """Items that have not ended."""
    throttled: int
    """Those of them that wait for a plan slot."""
    percent_complete: float

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BatchProgress:
        return cls(
            total=data["total"],
            completed=data["completed"],
            failed=data["failed"],
            pending=data["pending"],
            throttled=data["throttled"],
            percent_complete=data["percentComplete"],
        )


@dataclass(frozen=True, kw_only=True)
class Batch:
    job_id: str
    status: JobStatus
    """`completed` when every item has ended, whatever came of each."""
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None
    finished_at: datetime | None
    """When the last item ended, also of a batch that was cancelled."""
    expires_at: datetime
    """Until when outputs can be fetched; counted anew from the end of the batch."""
    zip_url: str
    manifest_available: bool
    manifest_download_url_endpoint: str
    progress: BatchProgress
    estimated_completion_time: datetime | None
    job: BatchSummaryJob
    items: list[BatchItem]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Batch:
        return cls(
            job_id=data["jobId"],
            status=data["status"],
            created_at=time_of(data["createdAt"]),
            updated_at=time_of(data["updatedAt"]),
            completed_at=maybe(time_of)(data["completedAt"]),
            finished_at=maybe(time_of)(data["finishedAt"]),
            expires_at=time_of(data["expiresAt"]),
            zip_url=data["zipUrl"],
            manifest_available=data["manifestAvailable"],
            manifest_download_url_endpoint=data["manifestDownloadUrlEndpoint"],
            progress=BatchProgress.from_json(data["progress"]),
            estimated_completion_time=maybe(time_of)(data["estimatedCompletionTime"]),
            job=BatchSummaryJob.from_json(data["job"]),
            items=each(BatchItem.from_json)(data["items"]),
        )


@dataclass(frozen=True, kw_only=True)
class BatchItem:
    item_id: str
    status: ItemStatus
    """A cancelled item has failed with `CANCELLED`."""
    output_available: bool
    download_url_endpoint: str
    output_expires_at: datetime | None
    error_message: str | None
    retry_attempt: int | None
    error: Failure | None
    pdf_size: int
    """Bytes; 0 until completed."""
    pages: int
    """0 until completed."""
    processing_time_ms: int
    report_endpoint: str | None = None
    """Where its report is: from its end on, if one was asked for."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BatchItem:
        return cls(
            item_id=data["itemId"],
            status=data["status"],
            output_available=data["outputAvailable"],
            download_url_endpoint=data["downloadUrlEndpoint"],
            output_expires_at=maybe(time_of)(data["outputExpiresAt"]),
            error_message=data["errorMessage"],
            retry_attempt=data["retryAttempt"],
            error=maybe(Failure.from_json)(data["error"]),
            pdf_size=data["pdfSize"],
            pages=data["pages"],
            processing_time_ms=data["processingTimeMs"],
            report_endpoint=data.get("reportEndpoint"),
        )


@dataclass(frozen=True, kw_only=True)
class UsageSummaryKeyBreakdown:
    api_key_id: str
    total_requests: int
    failed_count: int

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UsageSummaryKeyBreakdown:
        return cls(
            api_key_id=data["apiKeyId"],
            total_requests=data["totalRequests"],
            failed_count=data["failedCount"],
        )


@dataclass(frozen=True, kw_only=True)
class UsageSummary:
    plan: str
    """The name of the plan of the account."""
    total_requests: int
    """Requests for a render that are over: refused, or with a job that has ended."""
    success_count: int
    failed_count: int
    errors_by_category: dict[str, int]
    remaining: int
    """PDFs left of the quota of this month."""
    requests_per_minute: int
    concurrent_renders: int
    max_input_size_bytes: int
    max_output_size_bytes: int
    max_timeout_ms: int
    reset_date: str
    """When the quota starts anew."""
    key_breakdown: list[UsageSummaryKeyBreakdown] | None = None
    """With `includeBreakdown=true`; the busiest key first."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UsageSummary:
        return cls(
            plan=data["plan"],
            total_requests=data["totalRequests"],
            success_count=data["successCount"],
            failed_count=data["failedCount"],
            errors_by_category=data["errorsByCategory"],
            remaining=data["remaining"],
            requests_per_minute=data["requestsPerMinute"],
            concurrent_renders=data["concurrentRenders"],
            max_input_size_bytes=data["maxInputSizeBytes"],
            max_output_size_bytes=data["maxOutputSizeBytes"],
            max_timeout_ms=data["maxTimeoutMs"],
            reset_date=data["resetDate"],
            key_breakdown=maybe(each(UsageSummaryKeyBreakdown.from_json))(data.get("keyBreakdown")),
        )


@dataclass(frozen=True, kw_only=True)
class UsageSeriesErrors:
    code: str
    count: int
    remedy: str
    """What can be done about it."""
    docs_url: str
    """Where the documentation says more of it."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UsageSeriesErrors:
        return cls(
            code=data["code"],
            count=data["count"],
            remedy=data["remedy"],
            docs_url=data["docsUrl"],
        )


@dataclass(frozen=True, kw_only=True)
class UsageSeries:
    interval: Literal["hour", "day"]
    duration_bounds_ms: list[int]
    """Milliseconds, rising."""
    points: list[UsagePoint]
    """Every hour or day of the period, the first one first."""
    errors: list[UsageSeriesErrors]
    """What failed in the whole period, the most frequent first."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UsageSeries:
        return cls(
            interval=data["interval"],
            duration_bounds_ms=data["durationBoundsMs"],
            points=each(UsagePoint.from_json)(data["points"]),
            errors=each(UsageSeriesErrors.from_json)(data["errors"]),
        )


@dataclass(frozen=True, kw_only=True)
class UsagePoint:
    at: datetime
    """When the hour or day (UTC) began."""
    total: int
    failed: int
    errors_by_category: dict[str, int]
    errors_by_code: dict[str, int]
    pages: int
    """Of the PDFs that were rendered."""
    bytes: int
    """Of the same."""
    durations: list[int]
    """How long their renders took: how many took up to each of `durationBoundsMs`, and at the
    end how many took longer."""
    phases_ms: RenderAttemptPhases
    """Milliseconds that their renders spent in each phase, in sum."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UsagePoint:
        return cls(
            at=time_of(data["at"]),
            total=data["total"],
            failed=data["failed"],
            errors_by_category=data["errorsByCategory"],
            errors_by_code=data["errorsByCode"],
            pages=data["pages"],
            bytes=data["bytes"],
            durations=data["durations"],
            phases_ms=RenderAttemptPhases.from_json(data["phasesMs"]),
        )


@dataclass(frozen=True, kw_only=True)
class BatchMetricsCommonFailureReasons:
    code: str
    count: int

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BatchMetricsCommonFailureReasons:
        return cls(
            code=data["code"],
            count=data["count"],
        )


@dataclass(frozen=True, kw_only=True)
class BatchMetrics:
    queue_depth: int
    """Items of active batches that wait for a plan slot."""
    active_batches: int
    queued_batches: int
    processing_batches: int
    completion_rate_percent: float
    """Of the batches that ended: those that were not cancelled."""
    item_success_rate_percent: float
    item_eligible_count: int
    """Items that ended by themselves, well or badly."""
    webhook_success_rate_percent: float
    webhook_eligible_count: int
    """Batches whose callback was delivered or given up."""
    webhook_delivered_count: int
    average_items_per_batch: float
    average_batch_processing_time_ms: float
    """From the start of the first item to the end of the last."""
    common_failure_reasons: list[BatchMetricsCommonFailureReasons]
    """What items failed with, the commonest first; time-outs of all kinds are `TIMEOUT`."""
    lookback_days: int
    generated_at: datetime

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BatchMetrics:
        return cls(
            queue_depth=data["queueDepth"],
            active_batches=data["activeBatches"],
            queued_batches=data["queuedBatches"],
            processing_batches=data["processingBatches"],
            completion_rate_percent=data["completionRatePercent"],
            item_success_rate_percent=data["itemSuccessRatePercent"],
            item_eligible_count=data["itemEligibleCount"],
            webhook_success_rate_percent=data["webhookSuccessRatePercent"],
            webhook_eligible_count=data["webhookEligibleCount"],
            webhook_delivered_count=data["webhookDeliveredCount"],
            average_items_per_batch=data["averageItemsPerBatch"],
            average_batch_processing_time_ms=data["averageBatchProcessingTimeMs"],
            common_failure_reasons=each(BatchMetricsCommonFailureReasons.from_json)(data["commonFailureReasons"]),
            lookback_days=data["lookbackDays"],
            generated_at=time_of(data["generatedAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class RequestLogListSummary:
    success_count: int
    failed_count: int

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RequestLogListSummary:
        return cls(
            success_count=data["successCount"],
            failed_count=data["failedCount"],
        )


@dataclass(frozen=True, kw_only=True)
class RequestLogList:
    total: int
    """How many there are in all."""
    limit: int
    offset: int
    endpoint_options: list[str]
    """The endpoints that were asked for."""
    summary: RequestLogListSummary
    logs: list[RequestLogEntry]
    can_reveal_ip: bool
    """Whether the plan shows whole addresses."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RequestLogList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            endpoint_options=data["endpointOptions"],
            summary=RequestLogListSummary.from_json(data["summary"]),
            logs=each(RequestLogEntry.from_json)(data["logs"]),
            can_reveal_ip=data["canRevealIp"],
        )


@dataclass(frozen=True, kw_only=True)
class RequestLogEntry:
    id: str
    api_key_id: str
    api_key_prefix: str
    endpoint: str
    """Path of the route."""
    ip_address: str
    """Without its last octet (IPv4) or its last 80 bits (IPv6), unless the plan reveals it."""
    status: Literal["success", "error"]
    error_reason: str | None
    """The error's code."""
    job_id: str | None
    """The job or batch that it got; null without one."""
    created_at: datetime

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RequestLogEntry:
        return cls(
            id=data["id"],
            api_key_id=data["apiKeyId"],
            api_key_prefix=data["apiKeyPrefix"],
            endpoint=data["endpoint"],
            ip_address=data["ipAddress"],
            status=data["status"],
            error_reason=data["errorReason"],
            job_id=data["jobId"],
            created_at=time_of(data["createdAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class AccessToken:
    access_token: str
    """For the header Authorization: Bearer."""
    token_type: Literal["Bearer"]
    expires_at: datetime

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AccessToken:
        return cls(
            access_token=data["accessToken"],
            token_type=data["tokenType"],
            expires_at=time_of(data["expiresAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class Success:

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Success:
        return cls(
        )


@dataclass(frozen=True, kw_only=True)
class Account:
    id: str
    email: str | None
    """Null when an issuer vouches for no address."""
    sign_in_by: Literal["password", "issuer", "operator"]
    """What its owner signs in with: a password of this service; an OpenID Connect issuer; or,
    without a password, what whoever operates the service gives, such as the link that
    standalone prints."""
    email_confirmed: bool
    """Whether its owner has shown that mail to the address arrives: by a link in one, or through
    an issuer."""
    confirmation_needed: bool
    """Whether live API keys, and live renders without a key, wait until the address is
    confirmed."""
    taken_over_at: datetime | None
    """When the owner of the address has taken the account over from whoever registered it: API
    keys and work from before have ended, templates from before are still there. Null if that
    has never happened."""
    plan: str
    """The name of its plan."""
    created_at: datetime

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Account:
        return cls(
            id=data["id"],
            email=data["email"],
            sign_in_by=data["signInBy"],
            email_confirmed=data["emailConfirmed"],
            confirmation_needed=data["confirmationNeeded"],
            taken_over_at=maybe(time_of)(data["takenOverAt"]),
            plan=data["plan"],
            created_at=time_of(data["createdAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class AuthConfigPasswordLength:
    """Characters of a password."""

    min: int
    max: int

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AuthConfigPasswordLength:
        return cls(
            min=data["min"],
            max=data["max"],
        )


@dataclass(frozen=True, kw_only=True)
class AuthConfig:
    registration: Literal["open", "closed", "invite"]
    """Who may make an account by registering."""
    issuer: bool
    """Whether there is an OpenID Connect issuer to sign in at, by GET /auth/oidc/start."""
    password_length: AuthConfigPasswordLength
    """Characters of a password."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AuthConfig:
        return cls(
            registration=data["registration"],
            issuer=data["issuer"],
            password_length=AuthConfigPasswordLength.from_json(data["passwordLength"]),
        )


@dataclass(frozen=True, kw_only=True)
class NewSession:
    account: Account
    expires_at: datetime
    """The session ends then, however much it is used."""
    idle_timeout_seconds: int
    """It ends earlier when it is not used for so long."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> NewSession:
        return cls(
            account=Account.from_json(data["account"]),
            expires_at=time_of(data["expiresAt"]),
            idle_timeout_seconds=data["idleTimeoutSeconds"],
        )


@dataclass(frozen=True, kw_only=True)
class SessionList:
    total: int
    """How many there are in all."""
    limit: int
    offset: int
    sessions: list[Session]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SessionList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            sessions=each(Session.from_json)(data["sessions"]),
        )


@dataclass(frozen=True, kw_only=True)
class Session:
    id: str
    current: bool
    """Whether this request comes with it."""
    created_at: datetime
    last_used_at: datetime
    """To the minute."""
    expires_at: datetime
    ip_address: str | None
    """Where it was begun from."""
    user_agent: str | None
    """What the browser calls itself; its first 256 characters."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Session:
        return cls(
            id=data["id"],
            current=data["current"],
            created_at=time_of(data["createdAt"]),
            last_used_at=time_of(data["lastUsedAt"]),
            expires_at=time_of(data["expiresAt"]),
            ip_address=data["ipAddress"],
            user_agent=data["userAgent"],
        )


@dataclass(frozen=True, kw_only=True)
class ApiKeyList:
    total: int
    """How many there are in all."""
    limit: int
    offset: int
    keys: list[ApiKey]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ApiKeyList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            keys=each(ApiKey.from_json)(data["keys"]),
        )


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    id: str
    name: str
    prefix: str
    """The leading characters of the secret."""
    mode: Literal["live", "test"]
    status: Literal["active", "revoked"]
    created_at: datetime
    last_used_at: datetime | None
    last_used_ip: str | None
    last_used_geo: str | None
    """A country."""
    revoked_at: datetime | None
    allowed_ips: list[str]
    """Where the key may be used from; empty: everywhere."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ApiKey:
        return cls(
            id=data["id"],
            name=data["name"],
            prefix=data["prefix"],
            mode=data["mode"],
            status=data["status"],
            created_at=time_of(data["createdAt"]),
            last_used_at=maybe(time_of)(data["lastUsedAt"]),
            last_used_ip=data["lastUsedIp"],
            last_used_geo=data["lastUsedGeo"],
            revoked_at=maybe(time_of)(data["revokedAt"]),
            allowed_ips=data["allowedIps"],
        )


@dataclass(frozen=True, kw_only=True)
class NewApiKey:
    id: str
    api_key: str
    """The secret. It is shown this once and cannot be recovered."""
    prefix: str
    mode: Literal["live", "test"]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> NewApiKey:
        return cls(
            id=data["id"],
            api_key=data["apiKey"],
            prefix=data["prefix"],
            mode=data["mode"],
        )


@dataclass(frozen=True, kw_only=True)
class Template:
    id: str
    name: str
    content: str
    sample_data: str
    data_schema: str | None = None
    """The JSON Schema of its data serialized as a string; absent without one."""
    options: RenderOptions | None = None
    """Options of its renders; absent without any."""
    version_id: str
    """The version that renders use unless they pin another."""
    version: int
    created_at: datetime
    updated_at: datetime

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Template:
        return cls(
            id=data["id"],
            name=data["name"],
            content=data["content"],
            sample_data=data["sampleData"],
            data_schema=data.get("dataSchema"),
            options=data.get("options"),
            version_id=data["versionId"],
            version=data["version"],
            created_at=time_of(data["createdAt"]),
            updated_at=time_of(data["updatedAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class TemplateList:
    total: int
    """How many there are in all."""
    limit: int
    offset: int
    templates: list[Template]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TemplateList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            templates=each(Template.from_json)(data["templates"]),
        )


@dataclass(frozen=True, kw_only=True)
class TemplateSummaryList:
    total: int
    """How many there are in all."""
    limit: int
    offset: int
    templates: list[TemplateSummary]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TemplateSummaryList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            templates=each(TemplateSummary.from_json)(data["templates"]),
        )


@dataclass(frozen=True, kw_only=True)
class TemplateSummary:
    id: str
    name: str
    version_id: str
    """The version that renders use unless they pin another."""
    version: int
    created_at: datetime
    updated_at: datetime
    size: int
    """Bytes of its content, sample data, schema and options."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TemplateSummary:
        return cls(
            id=data["id"],
            name=data["name"],
            version_id=data["versionId"],
            version=data["version"],
            created_at=time_of(data["createdAt"]),
            updated_at=time_of(data["updatedAt"]),
            size=data["size"],
        )


@dataclass(frozen=True, kw_only=True)
class Preview:
    html: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Preview:
        return cls(
            html=data["html"],
        )


@dataclass(frozen=True, kw_only=True)
class AcceptedUserRender:
    job_id: str
    status: Literal["queued"]
    status_url: str
    file_url: str
    retry_of: str | None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AcceptedUserRender:
        return cls(
            job_id=data["jobId"],
            status=data["status"],
            status_url=data["statusUrl"],
            file_url=data["fileUrl"],
            retry_of=data["retryOf"],
        )


@dataclass(frozen=True, kw_only=True)
class TemplateVersionList:
    total: int
    """How many there are in all."""
    limit: int
    offset: int
    versions: list[TemplateVersionSummary]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TemplateVersionList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            versions=each(TemplateVersionSummary.from_json)(data["versions"]),
        )


@dataclass(frozen=True, kw_only=True)
class TemplateVersionSummary:
    id: str
    version_id: str
    """The same as `id`, by the name it has elsewhere."""
    template_id: str
    version: int
    name: str
    current: bool
    """Whether renders use it unless they pin another."""
    created_at: datetime

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TemplateVersionSummary:
        return cls(
            id=data["id"],
            version_id=data["versionId"],
            template_id=data["templateId"],
            version=data["version"],
            name=data["name"],
            current=data["current"],
            created_at=time_of(data["createdAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class TemplateVersion:
    id: str
    version_id: str
    """The same as `id`, by the name it has elsewhere."""
    template_id: str
    version: int
    name: str
    current: bool
    """Whether renders use it unless they pin another."""
    created_at: datetime
    content: str
    sample_data: str
    data_schema: str | None = None
    """The JSON Schema of its data serialized as a string; absent without one."""
    options: RenderOptions | None = None
    """Options of its renders; absent without any."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TemplateVersion:
        return cls(
            id=data["id"],
            version_id=data["versionId"],
            template_id=data["templateId"],
            version=data["version"],
            name=data["name"],
            current=data["current"],
            created_at=time_of(data["createdAt"]),
            content=data["content"],
            sample_data=data["sampleData"],
            data_schema=data.get("dataSchema"),
            options=data.get("options"),
        )


@dataclass(frozen=True, kw_only=True)
class AuditLog:
    total: int
    """How many there are in all."""
    limit: int
    offset: int
    entries: list[AuditEntry]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AuditLog:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            entries=each(AuditEntry.from_json)(data["entries"]),
        )


@dataclass(frozen=True, kw_only=True)
class AuditEntry:
    id: str
    action: Literal["account.registered", "account.signed_in", "account.sign_in_failed", "account.signed_out", "account.plan_changed", "account.quota_period_changed", "account.password_reset", "account.tokens_revoked", "account.address_confirmed", "account.taken_over", "account.suspended", "account.resumed", "account.deletion_requested", "account.deleted", "billing.auto_overage_changed", "billing.block_granted", "billing.block_frozen", "billing.block_taken_back", "billing.block_returned", "billing.block_expired", "key.created", "key.rotated", "key.changed", "key.revoked", "webhook_key.rotated", "template.saved", "template.deleted", "job.retried", "job.cancelled", "callback.retried", "mail.retried", "billing.retried", "worker.drained", "worker.resumed", "audit.entries_left_out"]
    actor: Literal["account", "anonymous", "operator", "billing"]
    """`anonymous`: somebody who has not shown to be the account."""
    ip_address: str | None
    target_id: str | None
    """The key, template or block that it was about."""
    details: dict[str, str]
    created_at: datetime

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AuditEntry:
        return cls(
            id=data["id"],
            action=data["action"],
            actor=data["actor"],
            ip_address=data["ipAddress"],
            target_id=data["targetId"],
            details=data["details"],
            created_at=time_of(data["createdAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class UserRenderList:
    total: int
    """How many there are in all."""
    limit: int
    offset: int
    renders: list[UserRender]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UserRenderList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            renders=each(UserRender.from_json)(data["renders"]),
        )


@dataclass(frozen=True, kw_only=True)
class UserRender:
    job_id: str
    status: JobStatus
    input_mode: Literal["html", "url", "template"]
    output_mode: Literal["binary", "url"]
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None
    output_available: bool
    output_expires_at: datetime | None
    """End of the retention window."""
    download_url_endpoint: str
    file_name: str
    pdf_size: int
    """Bytes; 0 until completed."""
    pages: int
    """0 until completed."""
    processing_time_ms: int
    attempt_count: int
    retry_attempt: int | None
    max_attempts: int
    will_retry: bool
    dead_lettered: bool
    """True once the job has failed for good: stop polling."""
    error: Failure | None
    """Can be present while willRetry is true."""
    report_endpoint: str | None = None
    """Where its report is: from its end on, if one was asked for."""
    mode: Literal["live", "test"]
    """Of the API key that asked for it; test renders have a watermark and use no quota."""
    api_key_id: str | None
    """Null when it was asked for without a key, from the dashboard."""
    api_key_prefix: str | None
    """Null without a key, and of one that is long revoked."""
    format: str
    """Paper format."""
    template_id: str | None
    retry_of: str | None
    """The job that it repeats."""
    queued_ms: int
    """Milliseconds from its acceptance to its first attempt; up to now while it waits."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UserRender:
        return cls(
            job_id=data["jobId"],
            status=data["status"],
            input_mode=data["inputMode"],
            output_mode=data["outputMode"],
            created_at=time_of(data["createdAt"]),
            updated_at=time_of(data["updatedAt"]),
            completed_at=maybe(time_of)(data["completedAt"]),
            output_available=data["outputAvailable"],
            output_expires_at=maybe(time_of)(data["outputExpiresAt"]),
            download_url_endpoint=data["downloadUrlEndpoint"],
            file_name=data["fileName"],
            pdf_size=data["pdfSize"],
            pages=data["pages"],
            processing_time_ms=data["processingTimeMs"],
            attempt_count=data["attemptCount"],
            retry_attempt=data["retryAttempt"],
            max_attempts=data["maxAttempts"],
            will_retry=data["willRetry"],
            dead_lettered=data["deadLettered"],
            error=maybe(Failure.from_json)(data["error"]),
            report_endpoint=data.get("reportEndpoint"),
            mode=data["mode"],
            api_key_id=data["apiKeyId"],
            api_key_prefix=data["apiKeyPrefix"],
            format=data["format"],
            template_id=data["templateId"],
            retry_of=data["retryOf"],
            queued_ms=data["queuedMs"],
        )


@dataclass(frozen=True, kw_only=True)
class UserRenderDetailQueue:
    ahead: int | None
    """Jobs of the account that come before it; null when it does not wait."""
    in_flight: int
    """Jobs of the account that hold a slot of its plan."""
    concurrent_renders: int
    """Slots that the plan has."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UserRenderDetailQueue:
        return cls(
            ahead=data["ahead"],
            in_flight=data["inFlight"],
            concurrent_renders=data["concurrentRenders"],
        )


@dataclass(frozen=True, kw_only=True)
class UserRenderDetail:
    job_id: str
    status: JobStatus
    input_mode: Literal["html", "url", "template"]
    output_mode: Literal["binary", "url"]
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None
    output_available: bool
    output_expires_at: datetime | None
    """End of the retention window."""
    download_url_endpoint: str
    file_name: str
    pdf_size: int
    """Bytes; 0 until completed."""
    pages: int
    """0 until completed."""
    processing_time_ms: int
    attempt_count: int
    retry_attempt: int | None
    max_attempts: int
    will_retry: bool
    dead_lettered: bool
    """True once the job has failed for good: stop polling."""
    error: Failure | None
    """Can be present while willRetry is true."""
    report_endpoint: str | None = None
    """Where its report is: from its end on, if one was asked for."""
    mode: Literal["live", "test"]
    """Of the API key that asked for it; test renders have a watermark and use no quota."""
    api_key_id: str | None
    """Null when it was asked for without a key, from the dashboard."""
    api_key_prefix: str | None
    """Null without a key, and of one that is long revoked."""
    format: str
    """Paper format."""
    template_id: str | None
    retry_of: str | None
    """The job that it repeats."""
    queued_ms: int
    """Milliseconds from its acceptance to its first attempt; up to now while it waits."""
    attempts: list[RenderAttempt]
    """The first one first."""
    input_available: bool
    """Whether what it was to render is kept still."""
    callback: UserRenderDetailCallback | None
    queue: UserRenderDetailQueue

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UserRenderDetail:
        return cls(
            job_id=data["jobId"],
            status=data["status"],
            input_mode=data["inputMode"],
            output_mode=data["outputMode"],
            created_at=time_of(data["createdAt"]),
            updated_at=time_of(data["updatedAt"]),
            completed_at=maybe(time_of)(data["completedAt"]),
            output_available=data["outputAvailable"],
            output_expires_at=maybe(time_of)(data["outputExpiresAt"]),
            download_url_endpoint=data["downloadUrlEndpoint"],
            file_name=data["fileName"],
            pdf_size=data["pdfSize"],
            pages=data["pages"],
            processing_time_ms=data["processingTimeMs"],
            attempt_count=data["attemptCount"],
            retry_attempt=data["retryAttempt"],
            max_attempts=data["maxAttempts"],
            will_retry=data["willRetry"],
            dead_lettered=data["deadLettered"],
            error=maybe(Failure.from_json)(data["error"]),
            report_endpoint=data.get("reportEndpoint"),
            mode=data["mode"],
            api_key_id=data["apiKeyId"],
            api_key_prefix=data["apiKeyPrefix"],
            format=data["format"],
            template_id=data["templateId"],
            retry_of=data["retryOf"],
            queued_ms=data["queuedMs"],
            attempts=each(RenderAttempt.from_json)(data["attempts"]),
            input_available=data["inputAvailable"],
            callback=maybe(UserRenderDetailCallback.from_json)(data["callback"]),
            queue=UserRenderDetailQueue.from_json(data["queue"]),
        )


@dataclass(frozen=True, kw_only=True)
class UserRenderDetailCallback:
    id: str
    url: str
    status: Literal["pending", "delivered", "failed"]
    attempt_count: int
    response_status: int | None
    error: str | None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UserRenderDetailCallback:
        return cls(
            id=data["id"],
            url=data["url"],
            status=data["status"],
            attempt_count=data["attemptCount"],
            response_status=data["responseStatus"],
            error=data["error"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderInput:
    html: str | None = None
    url: str | None = None
    template_id: str | None = None
    template_version_id: str | None = None
    content: str | None = None
    """Of the template, as it was accepted."""
    data: dict[str, Any] | None = None
    options: RenderOptions
    """The values of headers and cookies are masked."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderInput:
        return cls(
            html=data.get("html"),
            url=data.get("url"),
            template_id=data.get("templateId"),
            template_version_id=data.get("templateVersionId"),
            content=data.get("content"),
            data=data.get("data"),
            options=data["options"],
        )


@dataclass(frozen=True, kw_only=True)
class Queue:
    in_flight: int
    """Jobs that hold a slot of the plan."""
    waiting: int
    concurrent_renders: int
    """Slots that the plan has."""
    oldest_waiting_at: datetime | None
    """When the oldest of those was made that are next."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Queue:
        return cls(
            in_flight=data["inFlight"],
            waiting=data["waiting"],
            concurrent_renders=data["concurrentRenders"],
            oldest_waiting_at=maybe(time_of)(data["oldestWaitingAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class UserBatchList:
    total: int
    """How many there are in all."""
    limit: int
    offset: int
    batches: list[UserBatch]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UserBatchList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            batches=each(UserBatch.from_json)(data["batches"]),
        )


@dataclass(frozen=True, kw_only=True)
class UserBatch:
    job_id: str
    status: JobStatus
    """`completed` when every item has ended, whatever came of each."""
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None
    finished_at: datetime | None
    """When the last item ended, also of a batch that was cancelled."""
    expires_at: datetime
    """Until when outputs can be fetched; counted anew from the end of the batch."""
    zip_url: str
    manifest_available: bool
    manifest_download_url_endpoint: str
    progress: BatchProgress
    estimated_completion_time: datetime | None
    job: BatchSummaryJob
    mode: Literal["live", "test"]
    """Of the API key that asked for it."""
    api_key_id: str | None
    """Null when it was asked for without a key, from the dashboard."""
    api_key_prefix: str | None
    """Null without a key, and of one that is long revoked."""
    webhook_url: str | None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UserBatch:
        return cls(
            job_id=data["jobId"],
            status=data["status"],
            created_at=time_of(data["createdAt"]),
            updated_at=time_of(data["updatedAt"]),
            completed_at=maybe(time_of)(data["completedAt"]),
            finished_at=maybe(time_of)(data["finishedAt"]),
            expires_at=time_of(data["expiresAt"]),
            zip_url=data["zipUrl"],
            manifest_available=data["manifestAvailable"],
            manifest_download_url_endpoint=data["manifestDownloadUrlEndpoint"],
            progress=BatchProgress.from_json(data["progress"]),
            estimated_completion_time=maybe(time_of)(data["estimatedCompletionTime"]),
            job=BatchSummaryJob.from_json(data["job"]),
            mode=data["mode"],
            api_key_id=data["apiKeyId"],
            api_key_prefix=data["apiKeyPrefix"],
            webhook_url=data["webhookUrl"],
        )


@dataclass(frozen=True, kw_only=True)
class UserBatchItemList:
    total: int
    """How many there are in all."""
    limit: int
    offset: int
    items: list[UserBatchItem]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UserBatchItemList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            items=each(UserBatchItem.from_json)(data["items"]),
        )


@dataclass(frozen=True, kw_only=True)
class UserBatchItem:
    item_id: str
    status: ItemStatus
    """A cancelled item has failed with `CANCELLED`."""
    output_available: bool
    download_url_endpoint: str
    output_expires_at: datetime | None
    error_message: str | None
    retry_attempt: int | None
    error: Failure | None
    pdf_size: int
    """Bytes; 0 until completed."""
    pages: int
    """0 until completed."""
    processing_time_ms: int
    report_endpoint: str | None = None
    """Where its report is: from its end on, if one was asked for."""
    job_id: str | None
    """The render that it is; null once that is deleted, or before it is made."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UserBatchItem:
        return cls(
            item_id=data["itemId"],
            status=data["status"],
            output_available=data["outputAvailable"],
            download_url_endpoint=data["downloadUrlEndpoint"],
            output_expires_at=maybe(time_of)(data["outputExpiresAt"]),
            error_message=data["errorMessage"],
            retry_attempt=data["retryAttempt"],
            error=maybe(Failure.from_json)(data["error"]),
            pdf_size=data["pdfSize"],
            pages=data["pages"],
            processing_time_ms=data["processingTimeMs"],
            report_endpoint=data.get("reportEndpoint"),
            job_id=data["jobId"],
        )


@dataclass(frozen=True, kw_only=True)
class RetriedBatch:
    job_id: str
    status: Literal["queued"]
    item_count: int
    total_count: int
    status_url: str
    estimated_completion_time: datetime
    expires_at: datetime
    retry_of: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RetriedBatch:
        return cls(
            job_id=data["jobId"],
            status=data["status"],
            item_count=data["itemCount"],
            total_count=data["totalCount"],
            status_url=data["statusUrl"],
            estimated_completion_time=time_of(data["estimatedCompletionTime"]),
            expires_at=time_of(data["expiresAt"]),
            retry_of=data["retryOf"],
        )


@dataclass(frozen=True, kw_only=True)
class WebhookDeliveryList:
    total: int
    """How many there are in all."""
    limit: int
    offset: int
    deliveries: list[WebhookDelivery]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WebhookDeliveryList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            deliveries=each(WebhookDelivery.from_json)(data["deliveries"]),
        )


@dataclass(frozen=True, kw_only=True)
class WebhookDelivery:
    id: str
    """What `X-Service-Delivery-Id` says, with every attempt."""
    event: Literal["batch.completed", "render.completed", "render.failed", "webhook.test"]
    job_id: str
    """The batch or job that it is about; of `webhook.test` an id that nothing has."""
    url: str
    status: Literal["pending", "delivered", "failed"]
    attempt_count: int
    """Since it was ordered, or last asked for by hand."""
    created_at: datetime
    last_attempt_at: datetime | None
    next_attempt_at: datetime | None
    """Null when no attempt follows."""
    delivered_at: datetime | None
    response_status: int | None
    """The status of the last response of the receiver; null without one."""
    error: str | None
    """Why the last attempt failed."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WebhookDelivery:
        return cls(
            id=data["id"],
            event=data["event"],
            job_id=data["jobId"],
            url=data["url"],
            status=data["status"],
            attempt_count=data["attemptCount"],
            created_at=time_of(data["createdAt"]),
            last_attempt_at=maybe(time_of)(data["lastAttemptAt"]),
            next_attempt_at=maybe(time_of)(data["nextAttemptAt"]),
            delivered_at=maybe(time_of)(data["deliveredAt"]),
            response_status=data["responseStatus"],
            error=data["error"],
        )


@dataclass(frozen=True, kw_only=True)
class WebhookDeliveryDetailAttempts:
    at: datetime
    response_status: int | None
    error: str | None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WebhookDeliveryDetailAttempts:
        return cls(
            at=time_of(data["at"]),
            response_status=data["responseStatus"],
            error=data["error"],
        )


@dataclass(frozen=True, kw_only=True)
class WebhookDeliveryDetail:
    id: str
    """What `X-Service-Delivery-Id` says, with every attempt."""
    event: Literal["batch.completed", "render.completed", "render.failed", "webhook.test"]
    job_id: str
    """The batch or job that it is about; of `webhook.test` an id that nothing has."""
    url: str
    status: Literal["pending", "delivered", "failed"]
    attempt_count: int
    """Since it was ordered, or last asked for by hand."""
    created_at: datetime
    last_attempt_at: datetime | None
    next_attempt_at: datetime | None
    """Null when no attempt follows."""
    delivered_at: datetime | None
    response_status: int | None
    """The status of the last response of the receiver; null without one."""
    error: str | None
    """Why the last attempt failed."""
    payload: WebhookDeliveryDetailPayload
    attempts: list[WebhookDeliveryDetailAttempts]
    """The last 20 at most, the first of them first."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WebhookDeliveryDetail:
        return cls(
            id=data["id"],
            event=data["event"],
            job_id=data["jobId"],
            url=data["url"],
            status=data["status"],
            attempt_count=data["attemptCount"],
            created_at=time_of(data["createdAt"]),
            last_attempt_at=maybe(time_of)(data["lastAttemptAt"]),
            next_attempt_at=maybe(time_of)(data["nextAttemptAt"]),
            delivered_at=maybe(time_of)(data["deliveredAt"]),
            response_status=data["responseStatus"],
            error=data["error"],
            payload=WebhookDeliveryDetailPayload.from_json(data["payload"]),
            attempts=each(WebhookDeliveryDetailAttempts.from_json)(data["attempts"]),
        )


@dataclass(frozen=True, kw_only=True)
class WebhookKeyList:
    keys: list[WebhookKey]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WebhookKeyList:
        return cls(
            keys=each(WebhookKey.from_json)(data["keys"]),
        )


@dataclass(frozen=True, kw_only=True)
class WebhookKey:
    id: str
    """What `X-Service-Key-Id` says while it is the newest."""
    status: Literal["active", "retiring"]
    """`retiring`: signs together with the newest until it expires."""
    created_at: datetime
    expires_at: datetime | None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WebhookKey:
        return cls(
            id=data["id"],
            status=data["status"],
            created_at=time_of(data["createdAt"]),
            expires_at=maybe(time_of)(data["expiresAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class NewWebhookKey:
    id: str
    secret: str
    """`whsec_` and base64 of the key; shown this once."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> NewWebhookKey:
        return cls(
            id=data["id"],
            secret=data["secret"],
        )


@dataclass(frozen=True, kw_only=True)
class PlanList:
    current: str
    plans: list[PlanRow]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PlanList:
        return cls(
            current=data["current"],
            plans=each(PlanRow.from_json)(data["plans"]),
        )


@dataclass(frozen=True, kw_only=True)
class PlanRowLimitsFeatures:
    callbacks: bool
    """Callbacks may be asked for."""
    template_versions: bool
    """Old versions of templates can be seen and brought back."""
    reveal_ip: bool
    """The request log shows whole addresses."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PlanRowLimitsFeatures:
        return cls(
            callbacks=data["callbacks"],
            template_versions=data["templateVersions"],
            reveal_ip=data["revealIp"],
        )


@dataclass(frozen=True, kw_only=True)
class PlanRowLimits:
    monthly_renders: int
    """PDFs a month."""
    requests_per_minute: int
    """Requests a minute and account."""
    concurrent_renders: int
    """Plan slots: jobs of one account that may run at a time."""
    max_input_size_bytes: int
    """Largest request body, in bytes."""
    max_output_size_bytes: int
    """Largest PDF, in bytes."""
    max_timeout_ms: int
    """Longest deadline of a render, in milliseconds."""
    max_active_keys: int
    """API keys that may be active at a time."""
    max_batch_items: int
    """Items in one batch."""
    max_waiting_jobs: int
    """Jobs of one account that may wait for a slot."""
    max_stored_bytes: int
    """What one account may keep: PDFs, inputs of jobs that are not completed, templates with
    their versions, and what is known of batches and callbacks, in bytes."""
    max_test_renders_per_day: int
    """Renders of test keys a day."""
    retention_hours: int
    """How long a finished PDF is kept, in hours."""
    features: PlanRowLimitsFeatures

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PlanRowLimits:
        return cls(
            monthly_renders=data["monthlyRenders"],
            requests_per_minute=data["requestsPerMinute"],
            concurrent_renders=data["concurrentRenders"],
            max_input_size_bytes=data["maxInputSizeBytes"],
            max_output_size_bytes=data["maxOutputSizeBytes"],
            max_timeout_ms=data["maxTimeoutMs"],
            max_active_keys=data["maxActiveKeys"],
            max_batch_items=data["maxBatchItems"],
            max_waiting_jobs=data["maxWaitingJobs"],
            max_stored_bytes=data["maxStoredBytes"],
            max_test_renders_per_day=data["maxTestRendersPerDay"],
            retention_hours=data["retentionHours"],
            features=PlanRowLimitsFeatures.from_json(data["features"]),
        )


@dataclass(frozen=True, kw_only=True)
class PlanRow:
    name: str
    current: bool
    """Whether the account has it."""
    sold: bool
    """Whether it can be bought here."""
    limits: PlanRowLimits
    price_cents_per_month: int
    """US cents a month."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PlanRow:
        return cls(
            name=data["name"],
            current=data["current"],
            sold=data["sold"],
            limits=PlanRowLimits.from_json(data["limits"]),
            price_cents_per_month=data["priceCentsPerMonth"],
        )


@dataclass(frozen=True, kw_only=True)
class Subscription:
    status: str
    """`none`, or the subscription's: `active`, `trialing`, `past_due`, `unpaid`, `paused`,
    `canceled`."""
    plan: str | None = None
    """The plan in force."""
    current_period_end: datetime | None = None
    cancel_at_period_end: bool | None = None
    scheduled_plan: str | None = None
    """The plan that begins by itself later."""
    scheduled_plan_effective_date: datetime | None = None
    auto_overage_enabled: bool | None = None
    auto_overage_block_size: int | None = None
    """PDFs of a block that is bought by itself."""
    auto_overage_cycle_cap_cents: int | None = None
    """US cents that blocks may cost in one period."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Subscription:
        return cls(
            status=data["status"],
            plan=data.get("plan"),
            current_period_end=maybe(time_of)(data.get("currentPeriodEnd")),
            cancel_at_period_end=data.get("cancelAtPeriodEnd"),
            scheduled_plan=data.get("scheduledPlan"),
            scheduled_plan_effective_date=maybe(time_of)(data.get("scheduledPlanEffectiveDate")),
            auto_overage_enabled=data.get("autoOverageEnabled"),
            auto_overage_block_size=data.get("autoOverageBlockSize"),
            auto_overage_cycle_cap_cents=data.get("autoOverageCycleCapCents"),
        )


@dataclass(frozen=True, kw_only=True)
class UpgradePreview:
    eligible: bool
    current_plan: str
    target_plan: str | None = None
    amount_due_cents: int | None = None
    """At once, for the rest of the period."""
    currency: str | None = None
    period_start: datetime | None = None
    period_end: datetime | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UpgradePreview:
        return cls(
            eligible=data["eligible"],
            current_plan=data["currentPlan"],
            target_plan=data.get("targetPlan"),
            amount_due_cents=data.get("amountDueCents"),
            currency=data.get("currency"),
            period_start=maybe(time_of)(data.get("periodStart")),
            period_end=maybe(time_of)(data.get("periodEnd")),
        )


@dataclass(frozen=True, kw_only=True)
class Checkout:
    url: str
    """Where the customer goes on; empty when there is nothing left to do."""
    scheduled_plan: str | None = None
    scheduled_plan_effective_date: datetime | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Checkout:
        return cls(
            url=data["url"],
            scheduled_plan=data.get("scheduledPlan"),
            scheduled_plan_effective_date=maybe(time_of)(data.get("scheduledPlanEffectiveDate")),
        )


@dataclass(frozen=True, kw_only=True)
class HostedPage:
    url: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> HostedPage:
        return cls(
            url=data["url"],
        )


@dataclass(frozen=True, kw_only=True)
class InvoiceList:
    total: int
    """How many there are in all."""
    limit: int
    offset: int
    invoices: list[Invoice]
    status_options: list[str]
    """What `status` can be asked for."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> InvoiceList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            invoices=each(Invoice.from_json)(data["invoices"]),
            status_options=data["statusOptions"],
        )


@dataclass(frozen=True, kw_only=True)
class Invoice:
    id: str
    number: str | None
    """Null of a draft."""
    status: str
    currency: str
    amount_due_cents: int
    amount_paid_cents: int
    created_at: datetime
    hosted_invoice_url: str | None
    """Where it can be seen and paid; null of a draft."""
    pdf_url: str | None = None
    """Present when there is a PDF."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Invoice:
        return cls(
            id=data["id"],
            number=data["number"],
            status=data["status"],
            currency=data["currency"],
            amount_due_cents=data["amountDueCents"],
            amount_paid_cents=data["amountPaidCents"],
            created_at=time_of(data["createdAt"]),
            hosted_invoice_url=data["hostedInvoiceUrl"],
            pdf_url=data.get("pdfUrl"),
        )


@dataclass(frozen=True, kw_only=True)
class PaymentEventReceipt:
    received: bool

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PaymentEventReceipt:
        return cls(
            received=data["received"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderResultMetadata:
    size: int
    """Bytes."""
    processing_time: int
    """Milliseconds."""
    mode: str
    """Input mode."""
    format: str
    """Paper format."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderResultMetadata:
        return cls(
            size=data["size"],
            processing_time=data["processingTime"],
            mode=data["mode"],
            format=data["format"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderResult:
    url: str
    """Signed download address."""
    expires_at: datetime
    metadata: RenderResultMetadata

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderResult:
        return cls(
            url=data["url"],
            expires_at=time_of(data["expiresAt"]),
            metadata=RenderResultMetadata.from_json(data["metadata"]),
        )
