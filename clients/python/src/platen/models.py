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
    "ROLE_NOT_ALLOWED",
    "CODE_REQUIRED",
    "WRONG_CODE",
    "PASSKEY_REFUSED",
    "ISSUER_REQUIRED",
    "DOMAIN_UNPROVEN",
    "DOMAIN_CAPACITY",
    "PASSKEY_CAPACITY",
    "SECOND_FACTOR_REQUIRED",
    "SESSION_REQUIRED",
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
    "INVITATION_UNPROVEN",
    "MEMBER_CAPACITY",
    "LINK_INVALID",
    "CONFIRMATION_UNPROVEN",
    "ADDRESS_NOT_CONFIRMED",
    "WRONG_PASSWORD",
    "NOT_FOUND",
    "METHOD_NOT_ALLOWED",
    "UPLOAD_TOO_SLOW",
    "ALREADY_MEMBER",
    "OWNER_REQUIRED",
    "DOMAIN_CLAIMED",
    "DOMAIN_TAKEN",
    "SECOND_FACTOR_SET",
    "NOT_RETRYABLE",
    "TEMPLATE_CHANGED",
    "WRONG_STATE",
    "JOB_ENDED",
    "NOT_MERGEABLE",
    "IDEMPOTENCY_MISMATCH",
    "IDEMPOTENCY_IN_PROGRESS",
    "GONE",
    "INPUT_TOO_LARGE",
    "SOURCE_UNREADABLE",
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
    "UPLOAD_URL_EXPIRED",
    "UPLOAD_FAILED",
    "INVALID_URL",
    "URL_BLOCKED",
    "URL_UNREACHABLE",
    "SELECTOR_TIMEOUT",
    "CONDITION_TIMEOUT",
    "EXCEPTION_THROWN",
    "ASSET_FAILED",
    "GLYPH_MISSING",
    "DOCUMENT_FAULT",
    "CONFORMANCE_FAILED",
    "EINVOICE_INVALID",
    "COOKIE_INVALID",
    "SEAL_FAILED",
    "TIMESTAMP_FAILED",
    "REVOCATION_FAILED",
    "PDF_INVALID",
    "PDF_ENCRYPTED",
    "PDF_SIGNED",
    "FORM_FIELD_UNKNOWN",
    "FORM_VALUE_INVALID",
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
    """A version of the template; by default its current one."""
    data: NotRequired[Mapping[str, Any]]
    """Values of the template's variables."""
    output: NotRequired[Literal["binary", "url"]]
    """`binary` responds with the PDF, `url` with a signed address to download it from."""
    filename: NotRequired[str]
    """Name of the PDF file."""
    executionMode: NotRequired[Literal["sync", "async"]]
    """`sync` waits a while for the render to end; `async` responds with 202 at once."""
    webhookUrl: NotRequired[str]
    """Where the end of the render is told. Needs `executionMode` = `async`. Plans professional
    and business."""
    uploadUrl: NotRequired[str]
    """A signed address of S3, Google Cloud Storage or Azure, where the PDF is put. Plans
    professional and business."""
    report: NotRequired[bool]
    """Same as `options.report`, and counts before it."""
    strictData: NotRequired[bool]
    """Same as `options.strictData`, and counts before it."""
    options: NotRequired[RenderOptions]


class RenderOptionsAttachments(TypedDict):
    name: str
    """The name under which readers save the file."""
    type: NotRequired[str]
    """Its media type. Default application/octet-stream."""
    content: str
    """The bytes of the file in base64."""
    relationship: NotRequired[Literal["Source", "Data", "Alternative", "Supplement", "Unspecified"]]
    """What the file is to the document. Default Unspecified."""
    description: NotRequired[str]
    """What readers show of the file."""


class RenderOptionsBlockRequests(TypedDict):
    """Requests that the document may not make: by patterns of addresses (urls), in which *
    stands for any characters, and by kinds (stylesheet, image, font, media, script, frame,
    fetch, other). The document itself, requests of workers, and web sockets are not blocked."""

    urls: NotRequired[Sequence[str]]
    """Patterns of addresses; * stands for any characters."""
    kinds: NotRequired[Sequence[Literal["stylesheet", "image", "font", "media", "script", "frame", "fetch", "other"]]]
    """Kinds of requests: stylesheet, image, font, media, script, frame, fetch, other."""


class RenderOptionsConformance(TypedDict):
    """Write a PDF that conforms to PDF/A, PDF/UA-1 or both. PDF/UA and the levels ending in a
    imply `tagged` and `outline`. What only the author of the document can mend is listed in
    `accessibility` of the report; it fails the render with CONFORMANCE_FAILED, unless onFault
    is report, which implies `report`."""

    pdfa: NotRequired[Literal["4", "2b", "2u", "2a", "3b", "3u", "3a"]]
    """The part and level of PDF/A, for archives."""
    pdfua: NotRequired[bool]
    """PDF/UA-1, for everyone. Default false."""
    onFault: NotRequired[Literal["fail", "report"]]
    """Whether faults of the document fail the render, or are reported beside the PDF. Default
    fail."""


class RenderOptionsCookies(TypedDict):
    name: str
    """Its name."""
    value: str
    """Its value."""
    url: NotRequired[str]
    """An address that the cookie is for, in place of domain and path."""
    domain: NotRequired[str]
    """The domain that the cookie is for, in place of url."""
    path: NotRequired[str]
    """The path that the cookie is for."""
    secure: NotRequired[bool]
    """Whether the cookie is sent over https alone."""
    httpOnly: NotRequired[bool]
    """Whether scripts cannot read the cookie."""
    sameSite: NotRequired[Literal["Strict", "Lax", "None"]]
    """Whether requests from other sites have the cookie."""


class RenderOptionsEinvoice(TypedDict):
    """Makes the PDF an e-invoice of Factur-X (ZUGFeRD) or XRechnung: the XML of the invoice is
    in it, and it is PDF/A-3. The invoice is checked before anything is rendered; an error is
    EINVOICE_INVALID and names the business terms. The merged PDF of a batch is no e-invoice."""

    profile: Literal["minimum", "basicwl", "basic", "en16931", "extended", "xrechnung"]
    """How much the XML says: the profiles of Factur-X and ZUGFeRD from the smallest to the
    largest, and the German XRechnung."""
    data: NotRequired[Mapping[str, Any]]
    """The invoice as JSON, of which the XML is written: see the guide for its fields, and the
    JSON Schema. A template needs neither `data` nor `xml` here: its own `data` is the invoice
    then."""
    xml: NotRequired[str]
    """The invoice as XML instead: a CrossIndustryInvoice (UN/CEFACT D16B) of the profile, in
    UTF-8."""
    documentType: NotRequired[Literal["invoice", "creditNote", "debitNote", "correctedInvoice", "prepaymentInvoice", "selfBilledInvoice", "selfBilledCreditNote", "partialInvoice", "partialConstructionInvoice", "partialFinalConstructionInvoice", "finalConstructionInvoice", "invoiceInformation"]]
    """What the invoice is (BT-3). Of XML and data that say something else, it is an error.
    Default invoice, unless they say it."""


class RenderOptionsFailOn(TypedDict):
    """Fail the render if the source URL (pageStatus) or any other request (assetStatus) returned
    one of these statuses, such as ["400-599"]; if an asset could not be loaded or shown
    (assetUnreachable); if a script threw (exception); if a character has no font
    (missingGlyph); or if an inspection of the printed document found a fault: overflow,
    shrunk, hidden, covered, rasterised, blank, undecodable, embedded, stillChanging,
    redirect, deadLink, pageRules, unsupportedCss, garbled, fontSynthesis. Requests to
    ignoreHosts never fail a render. With an empty pageStatus, error pages are printed as
    well. The codes are URL_UNREACHABLE, ASSET_FAILED, EXCEPTION_THROWN, GLYPH_MISSING and
    DOCUMENT_FAULT."""

    pageStatus: NotRequired[Sequence[str]]
    """Statuses of the source URL. An empty list prints error pages, too."""
    assetStatus: NotRequired[Sequence[str]]
    """Statuses of anything that the document requests."""
    assetUnreachable: NotRequired[bool]
    """Anything that the document requests and that cannot be loaded at all, or not be shown."""
    exception: NotRequired[bool]
    """A script of the document that throws."""
    missingGlyph: NotRequired[bool]
    """A character that no font has."""
    ignoreHosts: NotRequired[Sequence[str]]
    """Hosts whose requests fail no render."""
    overflow: NotRequired[bool]
    """Content beyond the edge of the paper."""
    shrunk: NotRequired[bool]
    """A document that the browser has printed smaller, because it is wider than the paper."""
    hidden: NotRequired[bool]
    """Content of an element that scrolls, which paper does not."""
    covered: NotRequired[bool]
    """Content behind an element that is on every page."""
    rasterised: NotRequired[bool]
    """Text that a filter turns into a picture."""
    blank: NotRequired[bool]
    """Pages without anything on them."""
    undecodable: NotRequired[bool]
    """Pictures that arrived and cannot be shown, and fonts that are none."""
    embedded: NotRequired[bool]
    """Other documents within the document, such as PDFs, which are not printed."""
    stillChanging: NotRequired[bool]
    """A document that its scripts still change while it is printed."""
    redirect: NotRequired[bool]
    """A source URL that leads to another page."""
    deadLink: NotRequired[bool]
    """Links to parts that are not there."""
    pageRules: NotRequired[bool]
    """Page sizes and margins of style sheets that lose against options, or win over them."""
    unsupportedCss: NotRequired[bool]
    """Style sheets that use what the browser does not print."""
    garbled: NotRequired[bool]
    """Text that was read in the wrong encoding."""
    fontSynthesis: NotRequired[bool]
    """Bold or italic text in a web font that has no such face."""


class RenderOptionsFill(TypedDict):
    """Fill in the fields of the PDF: those that `forms` makes, or that a PDF has which is sent.
    A field that the PDF does not have is FORM_FIELD_UNKNOWN, a value that a field does not
    take FORM_VALUE_INVALID."""

    values: NotRequired[Mapping[str, str | float | bool | Sequence[str] | None]]
    """By the name of a field: a text or number for a text field, true or false for a box that is
    ticked, the value for radio buttons and lists, an array for lists of which several may be
    chosen, null for none."""
    flatten: NotRequired[bool]
    """Whether the fields become a part of the pages, and can no longer be changed. Default
    false."""


class Margin(TypedDict):
    """Margins of the page, each a length with a unit (px, in, cm, mm, pt, pc, Q; without one,
    px). Default 0 on each side, or 1cm where there is a header or footer."""

    top: NotRequired[str]
    """Above the document, where the header is printed."""
    right: NotRequired[str]
    """To the right of the document."""
    bottom: NotRequired[str]
    """Below the document, where the footer is printed."""
    left: NotRequired[str]
    """To the left of the document."""


class RenderOptionsMediaFeatures(TypedDict):
    """What media queries see: colorScheme (light, dark), reducedMotion (reduce, no-preference),
    contrast (more, less, custom, no-preference) and forcedColors (active, none)."""

    colorScheme: NotRequired[Literal["light", "dark"]]
    """What `prefers-color-scheme` finds."""
    reducedMotion: NotRequired[Literal["reduce", "no-preference"]]
    """What `prefers-reduced-motion` finds."""
    contrast: NotRequired[Literal["more", "less", "custom", "no-preference"]]
    """What `prefers-contrast` finds."""
    forcedColors: NotRequired[Literal["active", "none"]]
    """What `forced-colors` finds."""


class PdfMetadata(TypedDict):
    """Properties of the PDF that viewers show. Fields that are not given keep the values of the
    document."""

    title: NotRequired[str]
    """What viewers show in their title bar. Without it: the title element of the document."""
    author: NotRequired[str]
    """Who has written the document."""
    subject: NotRequired[str]
    """What the document is about."""
    creator: NotRequired[str]
    """The program that made the document before it became a PDF."""
    producer: NotRequired[str]
    """The program that made the PDF."""
    keywords: NotRequired[Sequence[str]]
    """Words to find the document by."""


class RenderOptionsProtectionPermissions(TypedDict):
    """What readers of the PDF are asked to allow."""

    print: NotRequired[Literal["none", "low", "high"]]
    """`low`: as a picture of few dots. Default `high`."""
    copy: NotRequired[bool]
    """Copying text and pictures. Default true."""
    modify: NotRequired[bool]
    """Changing the document. Default true."""
    annotate: NotRequired[bool]
    """Notes, and filling in forms. Default true."""
    fillForms: NotRequired[bool]
    """Filling in forms, also without `annotate`. Default true."""
    assemble: NotRequired[bool]
    """Adding, turning and removing pages. Default true."""
    accessibility: NotRequired[bool]
    """Reading the text aloud, also without `copy`. Default true."""


class RenderOptionsProtection(TypedDict):
    """Encrypts the PDF, every text and stream of it, by AES-256 (revision 6). Permissions are a
    request to readers of PDFs, which some ignore. Protected PDFs of a batch cannot be merged."""

    userPassword: NotRequired[str]
    """Opens the PDF. Without it, everyone can open it."""
    ownerPassword: NotRequired[str]
    """Opens the PDF, and lifts its permissions. Without it, nothing lifts them."""
    permissions: NotRequired[RenderOptionsProtectionPermissions]
    """What readers of the PDF are asked to allow."""


class RenderOptionsSealKey(TypedDict):
    """Whose key signs: one of the two."""

    digestUrl: NotRequired[str]
    """Your own server: the SHA-256 of the PDF is posted there, signed as callbacks are, and a
    detached CMS is expected."""
    keyId: NotRequired[str]
    """A key that the operator of the installation has assigned to the account."""


class RenderOptionsSealVisibleRect(TypedDict):
    """Where on the page. It has to be within it."""

    left: str
    """From the left edge of the page."""
    top: str
    """From the upper edge of the page."""
    width: str
    """At least 5mm."""
    height: str
    """At least 5mm."""


class RenderOptionsSealVisible(TypedDict):
    """Draws the seal on a page. Without it the seal is not drawn, and readers of PDFs show it
    all the same."""

    page: int
    """The page: 1 is the first, -1 the last."""
    rect: RenderOptionsSealVisibleRect
    """Where on the page. It has to be within it."""
    name: NotRequired[str]
    """Who seals, as it is drawn. The certificate says who does; Platen does not compare."""
    html: NotRequired[str]
    """What is drawn, in place of name, reason, location and time. It runs no script, and has
    pictures and fonts only as data: addresses."""


class RenderOptionsSeal(TypedDict):
    """Seals the PDF by an electronic signature (PAdES) of all its bytes, the last step of a
    render: readers of PDFs show who has sealed it, and that nothing has changed since. Sealed
    PDFs of a batch cannot be merged."""

    key: RenderOptionsSealKey
    """Whose key signs: one of the two."""
    reason: NotRequired[str]
    """Why the PDF is sealed, as readers of PDFs show it."""
    location: NotRequired[str]
    """Where it is sealed."""
    level: NotRequired[Literal["B-B", "B-T", "B-LT"]]
    """The level of PAdES (ETSI EN 319 142-1): B-T has a time stamp of timestampUrl; B-LT also
    what it takes to check the seal when its certificates have ended (certificates, OCSP
    responses, revocation lists). Default B-B."""
    timestampUrl: NotRequired[str]
    """A time-stamp authority (RFC 3161), for levels B-T and B-LT."""
    visible: NotRequired[RenderOptionsSealVisible]
    """Draws the seal on a page. Without it the seal is not drawn, and readers of PDFs show it
    all the same."""


class RenderOptionsViewport(TypedDict):
    """Size of the window that the document is loaded into, which scripts see and by which the
    document chooses pictures. Width and height are in CSS pixels; with deviceScaleFactor they
    may have 50,000,000 pixels in all. It does not change the paper. Without it the window is
    as large as the printable part of a page."""

    width: int
    """CSS pixels, which media queries for a width see, too."""
    height: int
    """CSS pixels: what 100vh is before the document is printed."""
    deviceScaleFactor: NotRequired[float]
    """Pixels of a picture to a CSS pixel, by which documents choose pictures. Default 1."""


class Watermark(TypedDict):
    """A text over the content of every page."""

    text: str
    """The text, which is made as large as the page allows."""
    opacity: NotRequired[float]
    """How dense the text is: 1 would hide the document. Default 0.15."""
    rotation: NotRequired[float]
    """Degrees, counter-clockwise. Default 45."""
    color: NotRequired[str]
    """A CSS colour. Default #888888."""


class RenderOptions(TypedDict):
    assetHeaders: NotRequired[Mapping[str, str]]
    """Headers for protected assets, such as Authorization. With a source URL they are sent to
    its origin. With HTML or a template they are sent to the origins (scheme, host and port)
    that its own markup names, never to origins that come from filled-in data."""
    assetOrigins: NotRequired[Sequence[str]]
    """The origins that assetHeaders are sent to, instead of those that Platen finds."""
    attachments: NotRequired[Sequence[RenderOptionsAttachments]]
    """Files to put into the PDF, as associated files of the document (`AF`). They count as part
    of the body. The merged PDF of a batch has no attachments."""
    baseUrl: NotRequired[str]
    """The address that relative addresses in HTML and templates start from, those of assets as
    well as of links, such as https://assets.example/invoices/. If the document has a `<base
    href>`, that is used instead. A source URL has an address of its own, and takes no
    baseUrl."""
    bestEffort: NotRequired[bool]
    """Print the document as it is instead of failing, if it is not loaded, or a wait has not
    ended, after three quarters of the time (with more than 20 seconds: 5 seconds before the
    deadline). A render whose document has not arrived at all still fails. Default false."""
    blockRequests: NotRequired[RenderOptionsBlockRequests]
    """Requests that the document may not make: by patterns of addresses (urls), in which *
    stands for any characters, and by kinds (stylesheet, image, font, media, script, frame,
    fetch, other). The document itself, requests of workers, and web sockets are not blocked."""
    conformance: NotRequired[RenderOptionsConformance]
    """Write a PDF that conforms to PDF/A, PDF/UA-1 or both. PDF/UA and the levels ending in a
    imply `tagged` and `outline`. What only the author of the document can mend is listed in
    `accessibility` of the report; it fails the render with CONFORMANCE_FAILED, unless onFault
    is report, which implies `report`."""
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
    einvoice: NotRequired[RenderOptionsEinvoice]
    """Makes the PDF an e-invoice of Factur-X (ZUGFeRD) or XRechnung: the XML of the invoice is
    in it, and it is PDF/A-3. The invoice is checked before anything is rendered; an error is
    EINVOICE_INVALID and names the business terms. The merged PDF of a batch is no e-invoice."""
    failOn: NotRequired[RenderOptionsFailOn]
    """Fail the render if the source URL (pageStatus) or any other request (assetStatus) returned
    one of these statuses, such as ["400-599"]; if an asset could not be loaded or shown
    (assetUnreachable); if a script threw (exception); if a character has no font
    (missingGlyph); or if an inspection of the printed document found a fault: overflow,
    shrunk, hidden, covered, rasterised, blank, undecodable, embedded, stillChanging,
    redirect, deadLink, pageRules, unsupportedCss, garbled, fontSynthesis. Requests to
    ignoreHosts never fail a render. With an empty pageStatus, error pages are printed as
    well. The codes are URL_UNREACHABLE, ASSET_FAILED, EXCEPTION_THROWN, GLYPH_MISSING and
    DOCUMENT_FAULT."""
    fill: NotRequired[RenderOptionsFill]
    """Fill in the fields of the PDF: those that `forms` makes, or that a PDF has which is sent.
    A field that the PDF does not have is FORM_FIELD_UNKNOWN, a value that a field does not
    take FORM_VALUE_INVALID."""
    firstFooterTemplate: NotRequired[str]
    """HTML that replaces footerTemplate on the first page, with displayHeaderFooter. An empty
    text prints no footer there."""
    firstHeaderTemplate: NotRequired[str]
    """HTML that replaces headerTemplate on the first page, with displayHeaderFooter. An empty
    text prints no header there."""
    footerTemplate: NotRequired[str]
    """HTML that is printed in the bottom margin of each page. It may use the same classes as
    headerTemplate, such as pageNumber."""
    format: NotRequired[Literal["Letter", "A4", "A5", "A3", "Legal", "Tabloid"]]
    """Paper format. Default A4."""
    forms: NotRequired[bool]
    """Make fields that can be filled in of the controls of the document: of `input`, `textarea`
    and `select`, with their names, labels, values, options and bounds. Buttons stay as they
    are drawn. Up to 2000 fields; with more, the render fails with DOCUMENT_LIMIT. Default
    false."""
    headerTemplate: NotRequired[str]
    """HTML that is printed in the top margin of each page. Elements with the classes date,
    title, url, pageNumber and totalPages are filled in. With templateId it is a template as
    well, with the same data. It may refer to pictures, style sheets and fonts."""
    height: NotRequired[str]
    """Height of the paper, instead of format. Needs width. A length with a unit, 0.5in to 200in."""
    javascriptEnabled: NotRequired[bool]
    """Run the scripts of the document. Default true."""
    landscape: NotRequired[bool]
    """Turn the paper, so that its long side is horizontal. Default false."""
    lastFooterTemplate: NotRequired[str]
    """HTML that replaces footerTemplate on the last page, with displayHeaderFooter. An empty
    text prints no footer there."""
    lastHeaderTemplate: NotRequired[str]
    """HTML that replaces headerTemplate on the last page, with displayHeaderFooter. An empty
    text prints no header there."""
    locale: NotRequired[str]
    """Language of the document's scripts and requests (Intl, navigator.language,
    Accept-Language), and of the date in headers and footers, such as de-DE. Default: that of
    the service (PLATEN_LOCALE), en-US unless it has been set."""
    margin: NotRequired[Margin]
    """Margins of the page, each a length with a unit (px, in, cm, mm, pt, pc, Q; without one,
    px). Default 0 on each side, or 1cm where there is a header or footer."""
    mediaFeatures: NotRequired[RenderOptionsMediaFeatures]
    """What media queries see: colorScheme (light, dark), reducedMotion (reduce, no-preference),
    contrast (more, less, custom, no-preference) and forcedColors (active, none)."""
    mediaType: NotRequired[Literal["print", "screen"]]
    """The CSS medium that the document is printed for. Default print."""
    metadata: NotRequired[PdfMetadata]
    """Properties of the PDF that viewers show. Fields that are not given keep the values of the
    document."""
    omitBackground: NotRequired[bool]
    """Leave out the background that the browser draws for a document with a dark color-scheme.
    Pages of other documents are transparent anyway. Default false."""
    outline: NotRequired[bool]
    """Write bookmarks for the headings h1 to h6. The PDF is then tagged as well. Default false."""
    pageRanges: NotRequired[str]
    """The pages to print, such as 1-3,5,8-. Without it all pages are printed. Pages after the
    last one are ignored; if none is left, the render fails with PAGE_RANGE_INVALID."""
    preferCSSPageSize: NotRequired[bool]
    """Let the document's @page size take precedence over format. Default false."""
    printBackground: NotRequired[bool]
    """Print background colours and images. Default true."""
    protection: NotRequired[RenderOptionsProtection]
    """Encrypts the PDF, every text and stream of it, by AES-256 (revision 6). Permissions are a
    request to readers of PDFs, which some ignore. Protected PDFs of a batch cannot be merged."""
    report: NotRequired[bool]
    """Keep a report of the render for as long as its output: requests with their outcomes,
    console, exceptions, fonts, characters without a font, waits, and warnings in plain words.
    A failed render has a report, too, with a picture of the page. `reportEndpoint` of the job
    record has its path. Single renders with a test key and from the dashboard have a report
    unless this is false; others, and items of batches, have one if this is true. Default
    false."""
    scale: NotRequired[float]
    """Scale of the print: 2 prints everything twice as large. Default 1."""
    scripts: NotRequired[Sequence[str]]
    """Scripts that run in the document once it is loaded, one after another, with the rights of
    its own scripts. If a script throws, the render fails with EXCEPTION_THROWN. The render
    does not wait for what a script starts: use waitForExpression."""
    seal: NotRequired[RenderOptionsSeal]
    """Seals the PDF by an electronic signature (PAdES) of all its bytes, the last step of a
    render: readers of PDFs show who has sealed it, and that nothing has changed since. Sealed
    PDFs of a batch cannot be merged."""
    shrinkToFit: NotRequired[bool]
    """If the document is wider than the page, print it smaller, by a third at most, so that more
    of it fits. If false, all lengths are kept (100mm are 100 mm), and what does not fit is
    cut off at the right. Default true."""
    singlePage: NotRequired[bool]
    """Print one page that is as tall as the document, at the width of the paper. If that is more
    than 200in, the render fails with DOCUMENT_LIMIT. An element as tall as the window (100vh)
    is as tall as the paper, or as viewport. Default false."""
    strictData: NotRequired[bool]
    """Fail with TEMPLATE_ERROR, which has the name and the line, if a template uses a name that
    is not in its data. Names in conditions, and before the filter `default`, may be missing.
    If false, such a name prints nothing, and a report warns of it. Default false."""
    styles: NotRequired[Sequence[str]]
    """Style sheets that are added to the document once it is loaded, after its own. They may not
    contain @import. The document's Content-Security-Policy does not apply to them."""
    tableOfContents: NotRequired[bool]
    """Fill in page numbers: each element with the attribute data-page in a link within the
    document, such as `<a href="#sums">Sums <span data-page></span></a>`, gets the number of
    the page that the link leads to. Default false."""
    tagged: NotRequired[bool]
    """Write a tagged (accessible) PDF. The render takes about a third longer. Headers and
    footers are then artefacts, which screen readers skip, and their links lead nowhere.
    Default false."""
    timeoutMs: NotRequired[int]
    """Deadline of the whole render, in milliseconds. Default: 30,000 plus delayMs, limited by
    the plan."""
    timezone: NotRequired[str]
    """Time zone of the document's scripts and of dates in templates, such as Europe/Berlin, in
    upper or lower case. Default UTC."""
    userAgent: NotRequired[str]
    """The User-Agent of the document's requests, which scripts see as well."""
    viewport: NotRequired[RenderOptionsViewport]
    """Size of the window that the document is loaded into, which scripts see and by which the
    document chooses pictures. Width and height are in CSS pixels; with deviceScaleFactor they
    may have 50,000,000 pixels in all. It does not change the paper. Without it the window is
    as large as the printable part of a page."""
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
    """When the document counts as loaded: with its pictures and style sheets (load), without
    them (domcontentloaded), or when it fetches nothing more (networkidle). Default load."""
    watermark: NotRequired[Watermark]
    """A text over the content of every page."""
    width: NotRequired[str]
    """Width of the paper, instead of format. Needs height. A length with a unit, 0.5in to 200in."""


class ConversionRequest(TypedDict):
    """Exactly one of `pdf` (or the file of a form) and `jobId`."""

    pdf: NotRequired[str]
    """The PDF in base64. A file is sent more easily as `multipart/form-data`."""
    jobId: NotRequired[str]
    """Instead of a file: a job of the account whose PDF is still kept."""
    output: NotRequired[Literal["binary", "url"]]
    """`binary` responds with the PDF, `url` with a signed address to download it from."""
    filename: NotRequired[str]
    """Name of the PDF file."""
    executionMode: NotRequired[Literal["sync", "async"]]
    """`sync` waits a while for the render to end; `async` responds with 202 at once."""
    webhookUrl: NotRequired[str]
    """Where the end of the render is told. Needs `executionMode` = `async`. Plans professional
    and business."""
    uploadUrl: NotRequired[str]
    """A signed address of S3, Google Cloud Storage or Azure, where the PDF is put. Plans
    professional and business."""
    options: NotRequired[ConversionOptions]


class ConversionOptions(TypedDict):
    attachments: NotRequired[Sequence[RenderOptionsAttachments]]
    """Files to put into the PDF, as associated files of the document (`AF`). They count as part
    of the body. The merged PDF of a batch has no attachments."""
    conformance: NotRequired[RenderOptionsConformance]
    """Write a PDF that conforms to PDF/A, PDF/UA-1 or both. PDF/UA and the levels ending in a
    imply `tagged` and `outline`. What only the author of the document can mend is listed in
    `accessibility` of the report; it fails the render with CONFORMANCE_FAILED, unless onFault
    is report, which implies `report`."""
    einvoice: NotRequired[RenderOptionsEinvoice]
    """Makes the PDF an e-invoice of Factur-X (ZUGFeRD) or XRechnung: the XML of the invoice is
    in it, and it is PDF/A-3. The invoice is checked before anything is rendered; an error is
    EINVOICE_INVALID and names the business terms. The merged PDF of a batch is no e-invoice."""
    fill: NotRequired[RenderOptionsFill]
    """Fill in the fields of the PDF: those that `forms` makes, or that a PDF has which is sent.
    A field that the PDF does not have is FORM_FIELD_UNKNOWN, a value that a field does not
    take FORM_VALUE_INVALID."""
    metadata: NotRequired[PdfMetadata]
    """Properties of the PDF that viewers show. Fields that are not given keep the values of the
    document."""
    protection: NotRequired[RenderOptionsProtection]
    """Encrypts the PDF, every text and stream of it, by AES-256 (revision 6). Permissions are a
    request to readers of PDFs, which some ignore. Protected PDFs of a batch cannot be merged."""
    report: NotRequired[bool]
    """Keep a report of the render for as long as its output: requests with their outcomes,
    console, exceptions, fonts, characters without a font, waits, and warnings in plain words.
    A failed render has a report, too, with a picture of the page. `reportEndpoint` of the job
    record has its path. Single renders with a test key and from the dashboard have a report
    unless this is false; others, and items of batches, have one if this is true. Default
    false."""
    seal: NotRequired[RenderOptionsSeal]
    """Seals the PDF by an electronic signature (PAdES) of all its bytes, the last step of a
    render: readers of PDFs show who has sealed it, and that nothing has changed since. Sealed
    PDFs of a batch cannot be merged."""
    timeoutMs: NotRequired[int]
    """Deadline of the whole render, in milliseconds. Default: 30,000 plus delayMs, limited by
    the plan."""


class FillRequest(TypedDict):
    """Exactly one of `pdf` (or the file of a form) and `jobId`."""

    pdf: NotRequired[str]
    """The PDF in base64. A file is sent more easily as `multipart/form-data`."""
    jobId: NotRequired[str]
    """Instead of a file: a job of the account whose PDF is still kept."""
    values: Mapping[str, str | float | bool | Sequence[str] | None]
    """By the name of a field: a text or number for a text field, true or false for a box that is
    ticked, the value for radio buttons and lists, an array for lists of which several may be
    chosen, null for none."""
    flatten: NotRequired[bool]
    """Whether the fields become a part of the pages, and can no longer be changed. Default
    false."""
    output: NotRequired[Literal["binary", "url"]]
    """`binary` responds with the PDF, `url` with a signed address to download it from."""
    filename: NotRequired[str]
    """Name of the PDF file."""
    executionMode: NotRequired[Literal["sync", "async"]]
    """`sync` waits a while for the render to end; `async` responds with 202 at once."""
    webhookUrl: NotRequired[str]
    """Where the end of the render is told. Needs `executionMode` = `async`. Plans professional
    and business."""
    uploadUrl: NotRequired[str]
    """A signed address of S3, Google Cloud Storage or Azure, where the PDF is put. Plans
    professional and business."""


class FlattenRequest(TypedDict):
    """Exactly one of `pdf` (or the file of a form) and `jobId`."""

    pdf: NotRequired[str]
    """The PDF in base64. A file is sent more easily as `multipart/form-data`."""
    jobId: NotRequired[str]
    """Instead of a file: a job of the account whose PDF is still kept."""
    output: NotRequired[Literal["binary", "url"]]
    """`binary` responds with the PDF, `url` with a signed address to download it from."""
    filename: NotRequired[str]
    """Name of the PDF file."""
    executionMode: NotRequired[Literal["sync", "async"]]
    """`sync` waits a while for the render to end; `async` responds with 202 at once."""
    webhookUrl: NotRequired[str]
    """Where the end of the render is told. Needs `executionMode` = `async`. Plans professional
    and business."""
    uploadUrl: NotRequired[str]
    """A signed address of S3, Google Cloud Storage or Azure, where the PDF is put. Plans
    professional and business."""


class ValidationRequest(TypedDict):
    """Exactly one of `pdf` (or the file of a form) and `jobId`."""

    pdf: NotRequired[str]
    """The PDF in base64. A file is sent more easily as `multipart/form-data`."""
    jobId: NotRequired[str]
    """Instead of a file: a job of the account whose PDF is still kept."""


class BatchRequest(TypedDict):
    items: NotRequired[Sequence[BatchItemInput]]
    """The documents to render. The plan limits how many there may be. Required without `source`."""
    source: NotRequired[BatchSourceInput]
    proof: NotRequired[int]
    """Renders so many rows of `source` first; the batch then waits for its release: `POST
    /v1/pdf/batch/{id}/release`."""
    webhookUrl: NotRequired[str]
    """Where a signed callback is sent when the batch has ended. Plans professional and business."""
    expiresInHours: NotRequired[int]
    """Hours that the outputs are kept after the end of the batch; 0: each is deleted once it has
    arrived at its `uploadUrl`, which every item then has. Maximum and default: the retention
    of the plan."""
    notes: NotRequired[str]
    """Any text, which is kept with the batch."""
    metadata: NotRequired[Mapping[str, str]]
    """Any text, which is kept with the batch."""


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
    """A version of the template; by default its current one."""
    data: NotRequired[Mapping[str, Any]]
    """Values of the template's variables."""
    filename: NotRequired[str]
    """Name of the PDF file."""
    uploadUrl: NotRequired[str]
    """A signed address of S3, Google Cloud Storage or Azure, where the PDF is put. Plans
    professional and business."""
    report: NotRequired[bool]
    """Same as `options.report`, and counts before it."""
    strictData: NotRequired[bool]
    """Same as `options.strictData`, and counts before it."""
    options: NotRequired[RenderOptions]


class BatchSourceInput(TypedDict):
    """A file, each row of which is the data of one document. Exactly one of `url` and `upload`
    is required; `uploadUrl` and `uploadUrlColumn` exclude each other."""

    url: NotRequired[str]
    """The http or https address of the file, which is fetched once."""
    upload: NotRequired[str]
    """A file from `POST /v1/pdf/batch/uploads`."""
    format: Literal["csv", "ndjson"]
    """`csv` with the names of the columns in its first row, or `ndjson`."""
    delimiter: NotRequired[Literal[",", ";", "\t", "|"]]
    """Between the fields of a CSV file. Default: the one that its first row has most often."""
    templateId: str
    """The template that each row is the data of."""
    templateVersionId: NotRequired[str]
    """A version of the template; by default its current one."""
    idColumn: NotRequired[str]
    """The column or field with the id of the item. Default: `id`; a row without one is `row-`
    and its number."""
    dataField: NotRequired[str]
    """The field of each line of an `ndjson` file that has the data of its document, an object.
    What is beside it, as the id, is no data then. Default: the whole line."""
    uploadUrl: NotRequired[str]
    """The https address to which each PDF is put, with `{batchId}`, `{row}` and `{id}`. Plans
    professional and business."""
    uploadUrlColumn: NotRequired[str]
    """The column or field with the signed address of each row. Plans professional and business."""
    report: NotRequired[bool]
    """Same as `options.report`, and counts before it."""
    strictData: NotRequired[bool]
    """Same as `options.strictData`, and counts before it."""
    options: NotRequired[RenderOptions]


class RequestDetailsSetting(TypedDict):
    kept: bool
    """Whether headers and bodies of requests are kept."""


class Registration(TypedDict):
    email: str
    """Upper and lower case make no difference."""
    password: str
    """The password."""
    invitation: NotRequired[str]
    """The code of an invitation, if the service needs one for registration."""


class Credentials(TypedDict):
    email: str
    """Upper and lower case make no difference."""
    password: str
    """The password."""
    code: NotRequired[str]
    """The code of the authenticator app, or a recovery code, where the person has set up one."""


class AccountChange(TypedDict):
    name: str
    """The name."""


class SessionRequest(TypedDict):
    """Either `email` and `password`, with `code` or `passkey` where the person has a second
    factor, or `passkey` alone, or `oneTimeToken`."""

    email: NotRequired[str]
    """Upper and lower case make no difference."""
    password: NotRequired[str]
    """The password."""
    code: NotRequired[str]
    """The code of the authenticator app, or a recovery code, where the person has set up one."""
    passkey: NotRequired[PasskeyAssertion]
    oneTimeToken: NotRequired[str]
    """The part after `#once=` of the link that standalone prints when it starts."""


class PasskeyAssertion(TypedDict):
    """What a passkey has signed, for a challenge of POST /auth/passkeys/challenge."""

    id: str
    """The id of the credential."""
    clientDataJSON: str
    """What the browser had signed."""
    authenticatorData: str
    """What the authenticator says of itself."""
    signature: str
    """The signature."""
    userHandle: NotRequired[str]
    """By which the passkey names its person."""


class AccountSwitch(TypedDict):
    accountId: str
    """One of GET /auth/accounts."""


class InvitationToken(TypedDict):
    token: str
    """The part after `#token=` of the link in the mail."""


class InvitationAcceptance(TypedDict):
    token: str
    """The part after `#token=` of the link in the mail."""
    password: NotRequired[str]
    """The password of the invited address, or the first one of an address that has none here.
    Not needed in a browser that is signed in with the address."""
    code: NotRequired[str]
    """The code of the authenticator app, or a recovery code, where the person has set up one."""


class SecondFactorCode(TypedDict):
    code: str
    """The code that the app shows."""


class SecondFactorRequirement(TypedDict):
    required: bool
    """Whether it is required."""


class PasskeyRegistration(TypedDict):
    name: str
    """By which the person tells it from others."""
    credential: PasskeyCredential


class PasskeyCredential(TypedDict):
    """What `navigator.credentials.create` has returned."""

    id: str
    """The id of the credential."""
    clientDataJSON: str
    """What the browser had signed."""
    attestationObject: str
    """The public key, with what the authenticator says of it."""


class PasskeyChange(TypedDict):
    name: str
    """By which the person tells it from others."""


class TeamInvitationRequest(TypedDict):
    email: str
    """Where the invitation is sent."""
    role: Literal["developer", "billing", "viewer"]
    """`developer`: documents, templates, keys and callbacks. `billing`: plan, purchases and
    invoices. `viewer`: sees documents, templates and logs, and changes nothing."""


class MemberChange(TypedDict):
    role: Literal["developer", "billing", "viewer"]
    """`developer`: documents, templates, keys and callbacks. `billing`: plan, purchases and
    invoices. `viewer`: sees documents, templates and logs, and changes nothing."""


class DomainClaim(TypedDict):
    domain: str
    """The part of addresses after the @."""
    issuer: str
    """The issuer identifier, an https address. Its discovery document is below it."""
    clientId: str
    """The client that the issuer knows this service as."""
    clientSecret: NotRequired[str]
    """The secret of that client. It is never shown."""
    role: NotRequired[Literal["developer", "billing", "viewer"]]
    """The role of people who sign in for the first time."""


class DomainChange(TypedDict):
    clientId: NotRequired[str]
    """The client that the issuer knows this service as."""
    clientSecret: NotRequired[str | None]
    """The secret of that client. It is never shown. Null removes the secret."""
    role: NotRequired[Literal["developer", "billing", "viewer"]]
    """`developer`: documents, templates, keys and callbacks. `billing`: plan, purchases and
    invoices. `viewer`: sees documents, templates and logs, and changes nothing."""
    required: NotRequired[bool]
    """Whether members with addresses of the domain may open the account only through the issuer,
    within a second. The owner may always open it."""


class PasswordChange(TypedDict):
    currentPassword: str
    """The password until now."""
    newPassword: str
    """The password from now on."""


class ForgottenPassword(TypedDict):
    email: str
    """The e-mail address of the account."""


class PasswordReset(TypedDict):
    token: str
    """The part after `#token=` of the link in the mail."""
    password: str
    """The password."""


class EmailVerification(TypedDict):
    token: str
    """The part after `#token=` of the link in the mail."""
    password: NotRequired[str]
    """The present password of the account."""
    newPassword: NotRequired[str]
    """A new password, for the owner of the address who did not register the account and takes it
    over."""


class ApiKeyRequest(TypedDict):
    name: str
    """Its name."""
    mode: NotRequired[Literal["live", "test"]]
    """Renders of `test` keys carry a watermark and use no quota."""
    allowedIps: NotRequired[Sequence[str]]
    """Addresses and networks that the key may be used from. An empty list allows all."""


class ApiKeyChange(TypedDict):
    name: NotRequired[str]
    """Its name."""
    allowedIps: NotRequired[Sequence[str]]
    """Addresses and networks that the key may be used from. An empty list allows all."""


class TemplateRequest(TypedDict):
    name: str
    """Its name."""
    content: str
    """HTML with Liquid: `{{name}}`, `{{a.b}}`, loops, conditions, filters."""
    sampleData: NotRequired[str]
    """A JSON document serialized as a string."""
    dataSchema: NotRequired[Any]
    """A JSON Schema of draft 2020-12 that the data of each render must fit, as an object or
    serialized as a string; null for none."""
    options: NotRequired[RenderOptions | None]
    """Options for each render of the template. Options of the render itself have precedence.
    `assetHeaders` and `cookies` cannot be saved. null for none."""
    message: NotRequired[str]
    """What this version changes, for whoever reads the history of the template."""


class PreviewRequest(TypedDict):
    """Exactly one of `content` and `templateId` is required."""

    content: NotRequired[str]
    """HTML with Liquid: `{{name}}`, `{{a.b}}`, loops, conditions, filters."""
    templateId: NotRequired[str]
    """A saved template instead of `content`."""
    sampleData: NotRequired[str]
    """A JSON document serialized as a string. Default: that of the saved template, or no data."""
    dataSchema: NotRequired[Any]
    """A schema that the sample data must fit. With `templateId`, its default is the schema of
    the saved template."""
    output: NotRequired[Literal["html", "pdf"]]
    """`pdf` makes a test render of the HTML: follow its job as that of a test key."""
    options: NotRequired[RenderOptions]
    """Options of the PDF; `locale`, `timezone` and `strictData` apply to the HTML as well. They
    have precedence over those of a saved template."""


class TemplateChange(TypedDict):
    name: NotRequired[str]
    """Its name."""
    content: NotRequired[str]
    """HTML with Liquid: `{{name}}`, `{{a.b}}`, loops, conditions, filters."""
    sampleData: NotRequired[str]
    """A JSON document serialized as a string."""
    dataSchema: NotRequired[Any]
    """A JSON Schema of draft 2020-12 that the data of each render must fit, as an object or
    serialized as a string; null for none."""
    options: NotRequired[RenderOptions | None]
    """Options for each render of the template. Options of the render itself have precedence.
    `assetHeaders` and `cookies` cannot be saved. null for none."""
    message: NotRequired[str]
    """What this version changes, for whoever reads the history of the template."""
    baseVersionId: NotRequired[str]
    """The version that the change was made from: it is rejected when the template has been saved
    since. Without it the change is made to the present version."""


class TemplateDraftRequest(TypedDict):
    name: str
    """Its name."""
    content: str
    """As in a template. A draft need not be valid before it is published."""
    sampleData: NotRequired[str]
    """As in a template; it need not be JSON yet."""
    dataSchema: NotRequired[str | None]
    """A JSON Schema serialized as a string; null for none. It need not be valid yet."""
    options: NotRequired[RenderOptions | None]
    """Options for each render; null for none."""
    baseVersionId: NotRequired[str]
    """The version that the draft was made from. Default: the present version."""
    baseDraftId: NotRequired[str | None]
    """The draft that this one was made from, null for none: it is rejected when the draft has
    been changed since. Without it, this one replaces whatever is there."""


class PublishRequest(TypedDict):
    message: NotRequired[str]
    """What this version changes, for whoever reads the history of the template."""
    draftId: NotRequired[str]
    """The draft that you have seen: it is rejected when it has been changed since."""


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
    """A version of the template; by default its current one."""
    data: NotRequired[Mapping[str, Any]]
    """Values of the template's variables."""
    output: NotRequired[Literal["binary", "url"]]
    """`binary` responds with the PDF, `url` with a signed address to download it from."""
    filename: NotRequired[str]
    """Name of the PDF file."""
    executionMode: NotRequired[Literal["sync", "async"]]
    """`sync` waits a while for the render to end; `async` responds with 202 at once."""
    webhookUrl: NotRequired[str]
    """Where the end of the render is told. Needs `executionMode` = `async`. Plans professional
    and business."""
    uploadUrl: NotRequired[str]
    """A signed address of S3, Google Cloud Storage or Azure, where the PDF is put. Plans
    professional and business."""
    report: NotRequired[bool]
    """Same as `options.report`, and counts before it."""
    strictData: NotRequired[bool]
    """Same as `options.strictData`, and counts before it."""
    options: NotRequired[RenderOptions]
    mode: NotRequired[Literal["live", "test"]]
    """`live`, or `test` for a render with a watermark that uses no quota."""


class ShareRequest(TypedDict):
    hours: NotRequired[int]
    """For how long it is valid. Default and maximum: as long as the PDF is kept."""


class UserBatchRequest(TypedDict):
    items: NotRequired[Sequence[BatchItemInput]]
    """The documents to render. The plan limits how many there may be. Required without `source`."""
    source: NotRequired[BatchSourceInput]
    proof: NotRequired[int]
    """Renders so many rows of `source` first; the batch then waits for its release: `POST
    /v1/pdf/batch/{id}/release`."""
    webhookUrl: NotRequired[str]
    """Where a signed callback is sent when the batch has ended. Plans professional and business."""
    expiresInHours: NotRequired[int]
    """Hours that the outputs are kept after the end of the batch; 0: each is deleted once it has
    arrived at its `uploadUrl`, which every item then has. Maximum and default: the retention
    of the plan."""
    notes: NotRequired[str]
    """Any text, which is kept with the batch."""
    metadata: NotRequired[Mapping[str, str]]
    """Any text, which is kept with the batch."""
    mode: NotRequired[Literal["live", "test"]]
    """`live`, or `test` for renders with a watermark that use no quota."""


class WebhookTest(TypedDict):
    url: str
    """The address of the receiver."""


class RedeliverFailed(TypedDict):
    since: str
    """Only callbacks created then or later."""
    event: NotRequired[Literal["batch.completed", "render.completed", "render.failed", "webhook.test"]]
    """Only callbacks of this event."""
    url: NotRequired[str]
    """Only callbacks with this in their address, in either case."""


@dataclass(frozen=True, kw_only=True)
class WebhookDeliveryDetailPayload:
    """The body that is sent."""

    event: Literal["batch.completed", "render.completed", "render.failed", "webhook.test"]
    """What has happened."""
    job_id: str
    """The job or batch."""
    status: str
    """Its state."""
    status_url: str
    """Path or address of its status."""
    zip_url: str | None = None
    """Path or address of the zip of the completed items."""
    file_url: str | None = None
    """Path or address of the PDF."""
    completed_at: datetime
    """When it was completed; null before."""
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
    """The job or batch."""
    status: Literal["queued"]
    """Its state."""
    status_url: str
    """Path or address of its status."""
    file_url: str
    """Path or address of the PDF."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AcceptedJob:
        return cls(
            job_id=data["jobId"],
            status=data["status"],
            status_url=data["statusUrl"],
            file_url=data["fileUrl"],
        )


@dataclass(frozen=True, kw_only=True)
class PdfValidation:
    holds: bool
    """Whether no check has failed."""
    version: str | None
    """Version of PDF; null for a file that cannot be opened."""
    pages: int | None
    """Number of pages; null for a file that cannot be opened."""
    encrypted: bool
    """Whether it is encrypted: then nothing else is checked."""
    claims: PdfClaims
    """What its XMP packet says of it."""
    signatures: list[PdfSignature]
    """Its signatures, 20 at most."""
    checks: list[PdfCheck]
    """Every check that there is, in a fixed order."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PdfValidation:
        return cls(
            holds=data["holds"],
            version=data["version"],
            pages=data["pages"],
            encrypted=data["encrypted"],
            claims=PdfClaims.from_json(data["claims"]),
            signatures=each(PdfSignature.from_json)(data["signatures"]),
            checks=each(PdfCheck.from_json)(data["checks"]),
        )


@dataclass(frozen=True, kw_only=True)
class PdfClaimsEinvoice:
    """Factur-X, ZUGFeRD or XRechnung; null for none."""

    level: str
    """The profile, such as `EN 16931`."""
    file_name: str
    """The file that has the XML."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PdfClaimsEinvoice:
        return cls(
            level=data["level"],
            file_name=data["fileName"],
        )


@dataclass(frozen=True, kw_only=True)
class PdfClaims:
    pdfa: str | None
    """Part and level of PDF/A, such as `3b`; null for none."""
    pdfua: str | None
    """Part of PDF/UA, such as `1`; null for none."""
    einvoice: PdfClaimsEinvoice | None
    """Factur-X, ZUGFeRD or XRechnung; null for none."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PdfClaims:
        return cls(
            pdfa=data["pdfa"],
            pdfua=data["pdfua"],
            einvoice=maybe(PdfClaimsEinvoice.from_json)(data["einvoice"]),
        )


@dataclass(frozen=True, kw_only=True)
class PdfSignature:
    sub_filter: str
    """Its kind, such as `ETSI.CAdES.detached` for PAdES."""
    covers_whole_file: bool
    """Whether it is of the whole file: nothing was added after it."""
    subject: str | None
    """The subject of the certificate; null where it was not read."""
    fault: str | None
    """What is wrong with it."""
    is_checked: bool
    """Whether its digest and certificate were checked: those of PAdES alone are, never who is
    trusted."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PdfSignature:
        return cls(
            sub_filter=data["subFilter"],
            covers_whole_file=data["coversWholeFile"],
            subject=data["subject"],
            fault=data["fault"],
            is_checked=data["isChecked"],
        )


@dataclass(frozen=True, kw_only=True)
class PdfCheck:
    check: Literal["file", "encryption", "metadata", "pdfa", "pdfua", "einvoice", "signatures"]
    """What was looked at."""
    outcome: Literal["passed", "failed", "notClaimed", "notChecked"]
    """`notClaimed`: the PDF does not say that it is so. `notChecked`: it cannot be told, and
    `findings` says why."""
    findings: list[str]
    """What is wrong, in words."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PdfCheck:
        return cls(
            check=data["check"],
            outcome=data["outcome"],
            findings=data["findings"],
        )


@dataclass(frozen=True, kw_only=True)
class JobList:
    total: int
    """How many there are in all."""
    limit: int
    """How many this response may have."""
    offset: int
    """How many were skipped."""
    jobs: list[JobRecord]
    """The jobs of this page."""

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
    """The job or batch."""
    status: JobStatus
    """Its state."""
    input_mode: Literal["html", "url", "template", "pdf"]
    """What it was made of: HTML, a web page, a template or a PDF."""
    output_mode: Literal["binary", "url"]
    """Whether the PDF itself or its address was requested."""
    created_at: datetime
    """When it was made or accepted."""
    updated_at: datetime
    """When it last changed."""
    completed_at: datetime | None
    """When it was completed; null before."""
    output_available: bool
    """Whether there is a PDF to download."""
    output_expires_at: datetime | None
    """End of the retention window."""
    download_url_endpoint: str
    """Path that responds with a signed address of the PDF."""
    file_name: str
    """Name of the PDF file."""
    pdf_size: int
    """Bytes; 0 until completed."""
    pages: int
    """0 until completed."""
    processing_time_ms: int
    """Duration of the render in milliseconds."""
    attempt_count: int
    """Attempts so far."""
    retry_attempt: int | None
    """Which retry comes next; null when none does."""
    max_attempts: int
    """How many attempts there may be."""
    will_retry: bool
    """Whether another attempt follows."""
    dead_lettered: bool
    """True once the job has failed for good: stop polling."""
    error: Failure | None
    """Can be present while willRetry is true."""
    report_endpoint: str | None = None
    """Where its report is: from its end on, if one was asked for."""
    upload: Upload | None = None
    """What became of its upload, if one was asked for."""

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
            upload=maybe(Upload.from_json)(data.get("upload")),
        )


@dataclass(frozen=True, kw_only=True)
class Upload:
    status: Literal["pending", "delivered", "failed"]
    """`pending` until the PDF has arrived, or was given up; `failed` also for a render without a
    PDF."""
    attempt_count: int
    """Attempts so far."""
    response_status: int | None
    """The status of the last response; null without one."""
    error: Failure | None
    """Why the last attempt failed: `UPLOAD_FAILED`, or `UPLOAD_URL_EXPIRED`."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Upload:
        return cls(
            status=data["status"],
            attempt_count=data["attemptCount"],
            response_status=data["responseStatus"],
            error=maybe(Failure.from_json)(data["error"]),
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
    """Its name."""
    ms: int
    """Milliseconds."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportPhases:
        return cls(
            name=data["name"],
            ms=data["ms"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportRequests:
    url: str
    """Without user, password, fragment, and query values that may be secrets. Relative if it is
    so in the document and there is no baseUrl."""
    kind: str
    """page, frame, stylesheet, image, font, script, fetch, websocket, …."""
    outcome: Literal["pending", "loaded", "redirected", "error", "unreachable", "blocked", "cancelled"]
    """What became of it."""
    status: int | None
    """Null without a response."""
    rule: str | None
    """What decided the outcome: cache, blockRequests, egress, cors, content security policy, …;
    null if nothing did."""
    error: str | None
    """Why it failed; null when it did not."""
    bytes: int
    """Bytes received; 0 if it came from the cache."""
    start_ms: int | None = None
    """Milliseconds from the beginning of the attempt to the request; absent in reports of
    earlier versions."""
    ms: int
    """Milliseconds from the request to its end."""

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
            start_ms=data.get("startMs"),
            ms=data["ms"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportConsole:
    level: str
    """As the console has it."""
    text: str
    """The text."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportConsole:
        return cls(
            level=data["level"],
            text=data["text"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportExceptions:
    message: str
    """What has happened, in words."""
    at: str
    """When it happened."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportExceptions:
        return cls(
            message=data["message"],
            at=data["at"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportFontsUsed:
    family: str
    """The family of the font."""
    web_font: bool
    """Whether the document brought it."""

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
    """The fonts that were used."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportFonts:
        return cls(
            asked=data["asked"],
            used=each(RenderReportFontsUsed.from_json)(data["used"]),
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportMissingGlyphs:
    character: str
    """The character."""
    code_point: str
    """Its code point, such as U+1F600."""
    page: int
    """The page, or what it took to open it."""
    count: int
    """How many."""

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
    """The rule that it broke."""
    message: str
    """What has happened, in words."""
    selector: str | None
    """Where it is in the document."""
    page: int | None
    """The page, or what it took to open it."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportObservations:
        return cls(
            rule=data["rule"],
            message=data["message"],
            selector=data["selector"],
            page=data["page"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportAccessibility:
    rule: Literal["language", "title", "alternativeText", "headingOrder", "headingText", "listItems", "tableHeaders", "fieldLabel", "linkText", "tabOrder", "contrast", "missingCharacter"]
    """The rule that it broke."""
    message: str
    """What has happened, in words."""
    selector: str | None
    """Where it is in the document."""
    page: int | None
    """The page, or what it took to open it."""
    whose: Literal["document", "font"]
    """What has to be mended: the document, or the fonts that it is printed with."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportAccessibility:
        return cls(
            rule=data["rule"],
            message=data["message"],
            selector=data["selector"],
            page=data["page"],
            whose=data["whose"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportWaits:
    name: str
    """Its name."""
    ms: int
    """Milliseconds."""
    outcome: Literal["reached", "given up", "failed"]
    """What became of it."""

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
    """The job or batch."""
    status: str
    """Its state."""
    engine: str
    """The browser and its version; empty where that was lost."""
    attempts: list[RenderAttempt]
    """In order. The rest of the report is about the last attempt."""
    phases: list[RenderReportPhases]
    """The parts of the render, with their times."""
    requests: list[RenderReportRequests]
    """At most 500, with those of workers; without `data:` addresses."""
    console: list[RenderReportConsole]
    """100 lines at most."""
    exceptions: list[RenderReportExceptions]
    """50 at most."""
    fonts: list[RenderReportFonts]
    """The fonts that were requested and used."""
    missing_glyphs: list[RenderReportMissingGlyphs]
    """Characters that no font has, at most 200. U+FFFD stands for a character that could not be
    determined; for each font there is one such entry."""
    observations: list[RenderReportObservations]
    """Findings of an inspection of the document and of its printed pages, at most 60."""
    accessibility: list[RenderReportAccessibility]
    """With `conformance`: what only the author of the document can mend, 100 at most."""
    waits: list[RenderReportWaits]
    """What the render waited for."""
    pages: int
    """0 when it has failed."""
    size: int
    """Bytes of the PDF; 0 when it has failed."""
    seal: RenderReportSeal | None
    """Who has sealed the PDF; null without the option `seal`, and when the render has failed."""
    error: Failure | None
    """Why it failed; null when it did not."""
    picture: RenderReportPicture | None
    """The page at the moment when the render failed, if it could be drawn."""
    warnings: list[str]
    """Problems that the author of the document can correct."""
    truncated: list[str]
    """The lists that were shortened."""

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
            accessibility=each(RenderReportAccessibility.from_json)(data["accessibility"]),
            waits=each(RenderReportWaits.from_json)(data["waits"]),
            pages=data["pages"],
            size=data["size"],
            seal=maybe(RenderReportSeal.from_json)(data["seal"]),
            error=maybe(Failure.from_json)(data["error"]),
            picture=maybe(RenderReportPicture.from_json)(data["picture"]),
            warnings=data["warnings"],
            truncated=data["truncated"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderAttempt:
    number: int
    """Its number."""
    started_at: datetime
    """When it started."""
    ended_at: datetime | None
    """When it ended; null before."""
    outcome: Literal["running", "completed", "failed", "cancelled"]
    """What became of it."""
    error: Failure | None
    """Why it failed; null when it did not."""
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
    """Milliseconds of each phase, in order, up to the one that failed."""

    page: int
    """The page, or what it took to open it."""
    load: int
    """Milliseconds of loading."""
    wait: int
    """Milliseconds of waiting."""
    print: int
    """Milliseconds of printing."""
    finish: int
    """Milliseconds of finishing the PDF."""

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
class RenderReportSeal:
    level: Literal["B-B", "B-T", "B-LT"]
    """Of PAdES."""
    subject: str
    """Whom the certificate names, as one line."""
    issuer: str
    """Who has issued the certificate."""
    serial_number: str
    """Of the certificate, in hexadecimal digits."""
    valid_until: datetime
    """When the certificate ends."""
    timestamp: RenderReportTimestamp | None
    """Of levels B-T and B-LT."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportSeal:
        return cls(
            level=data["level"],
            subject=data["subject"],
            issuer=data["issuer"],
            serial_number=data["serialNumber"],
            valid_until=time_of(data["validUntil"]),
            timestamp=maybe(RenderReportTimestamp.from_json)(data["timestamp"]),
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportTimestamp:
    time: datetime
    """When the PDF was there at the latest."""
    authority: str
    """Whom its certificate names, as one line."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportTimestamp:
        return cls(
            time=time_of(data["time"]),
            authority=data["authority"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderReportPicture:
    media_type: str
    """Its media type."""
    data: str
    """Base64."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderReportPicture:
        return cls(
            media_type=data["mediaType"],
            data=data["data"],
        )


@dataclass(frozen=True, kw_only=True)
class BatchUpload:
    id: str
    """For `source.upload`."""
    bytes: int
    """Of the file."""
    expires_at: datetime
    """Until when a batch can be made of it."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BatchUpload:
        return cls(
            id=data["id"],
            bytes=data["bytes"],
            expires_at=time_of(data["expiresAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class BatchJob:
    """The same batch, with other names."""

    id: str
    """Its id."""
    status: JobStatus
    """Its state."""
    access_expired: bool
    """Whether the outputs can no longer be downloaded."""
    total_count: int
    """Items of the batch."""
    completed_count: int
    """Items that are completed."""
    failed_count: int
    """How many have failed."""
    created_at: datetime
    """When it was made or accepted."""
    updated_at: datetime
    """When it last changed."""
    completed_at: datetime | None
    """When it was completed; null before."""
    finished_at: datetime | None
    """When the last part of it ended; null before."""
    expires_at: datetime
    """Until when it is valid, or can be fetched."""
    notes: str
    """As the request gave them."""
    metadata: dict[str, str]
    """As the request gave it."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BatchJob:
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
class Batch:
    job_id: str
    """The job or batch."""
    status: JobStatus
    """`completed` when every item has ended, completed or failed."""
    created_at: datetime
    """When it was made or accepted."""
    updated_at: datetime
    """When it last changed."""
    completed_at: datetime | None
    """When it was completed; null before."""
    finished_at: datetime | None
    """When the last item ended, also of a batch that was cancelled."""
    expires_at: datetime
    """Until when outputs can be downloaded. It is computed again when the batch ends."""
    zip_url: str
    """Path or address of the zip of the completed items."""
    manifest_available: bool
    """Whether there is a manifest."""
    manifest_download_url_endpoint: str
    """Path that responds with a signed address of the manifest."""
    progress: BatchProgress
    estimated_completion_time: datetime | None
    """When it is expected to end; null when that is not known."""
    source: BatchSource | None = None
    job: BatchJob
    """The same batch, with other names."""
    items: list[BatchItem]
    """The items, in the order of the request."""

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
            source=maybe(BatchSource.from_json)(data.get("source")),
            job=BatchJob.from_json(data["job"]),
            items=each(BatchItem.from_json)(data["items"]),
        )


@dataclass(frozen=True, kw_only=True)
class BatchProgress:
    total: int
    """How many there are in all."""
    completed: int
    """How many are completed."""
    failed: int
    """How many have failed."""
    pending: int
    """Items that have not ended."""
    throttled: int
    """Those of them that wait for a plan slot."""
    percent_complete: float
    """How much of it has ended, in percent."""

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
class BatchSource:
    state: Literal["counting", "reading", "awaiting_release", "paused", "waiting", "read", "cut"]
    """`awaiting_release` after the proof; `waiting` as `waitsFor` says; `cut` when rows were not
    read: `error` says why, unless the batch was cancelled."""
    rows: int | None
    """Rows of the file; null until they are counted."""
    rows_read: int
    """Rows that have become items."""
    proof: int | None
    """Rows that are rendered before the batch waits for its release."""
    released_at: datetime | None
    """When the owner released it after its proof."""
    deadline: datetime
    """Rows that have not been read by then are not rendered."""
    waits_for: Failure | None
    """Why no row is read at the moment. It goes on by itself."""
    error: Failure | None
    """Why no further row is read."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BatchSource:
        return cls(
            state=data["state"],
            rows=data["rows"],
            rows_read=data["rowsRead"],
            proof=data["proof"],
            released_at=maybe(time_of)(data["releasedAt"]),
            deadline=time_of(data["deadline"]),
            waits_for=maybe(Failure.from_json)(data["waitsFor"]),
            error=maybe(Failure.from_json)(data["error"]),
        )


@dataclass(frozen=True, kw_only=True)
class BatchItem:
    item_id: str
    """The id that the request gave the item."""
    status: ItemStatus
    """A cancelled item has failed with `CANCELLED`."""
    output_available: bool
    """Whether there is a PDF to download."""
    download_url_endpoint: str
    """Path that responds with a signed address of the PDF."""
    output_expires_at: datetime | None
    """Until when the PDF can be downloaded."""
    error_message: str | None
    """The message of the error; null without one."""
    retry_attempt: int | None
    """Which retry comes next; null when none does."""
    error: Failure | None
    """Why it failed; null when it did not."""
    pdf_size: int
    """Bytes; 0 until completed."""
    pages: int
    """0 until completed."""
    processing_time_ms: int
    """Duration of the render in milliseconds."""
    report_endpoint: str | None = None
    """Where its report is: from its end on, if one was asked for."""
    upload: Upload | None = None
    """What became of its upload, if one was asked for."""

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
            upload=maybe(Upload.from_json)(data.get("upload")),
        )


@dataclass(frozen=True, kw_only=True)
class AcceptedBatch:
    job_id: str
    """The job or batch."""
    status: Literal["queued"]
    """Its state."""
    item_count: int
    """Items of the batch."""
    total_count: int
    """Items of the batch."""
    status_url: str
    """Path or address of its status."""
    estimated_completion_time: datetime
    """When it is expected to end; null when that is not known."""
    expires_at: datetime
    """Until when it is valid, or can be fetched."""

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
    """How many this response may have."""
    offset: int
    """How many were skipped."""
    batches: list[BatchSummary]
    """The batches of this page."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BatchList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            batches=each(BatchSummary.from_json)(data["batches"]),
        )


@dataclass(frozen=True, kw_only=True)
class BatchSummary:
    job_id: str
    """The job or batch."""
    status: JobStatus
    """`completed` when every item has ended, completed or failed."""
    created_at: datetime
    """When it was made or accepted."""
    updated_at: datetime
    """When it last changed."""
    completed_at: datetime | None
    """When it was completed; null before."""
    finished_at: datetime | None
    """When the last item ended, also of a batch that was cancelled."""
    expires_at: datetime
    """Until when outputs can be downloaded. It is computed again when the batch ends."""
    zip_url: str
    """Path or address of the zip of the completed items."""
    manifest_available: bool
    """Whether there is a manifest."""
    manifest_download_url_endpoint: str
    """Path that responds with a signed address of the manifest."""
    progress: BatchProgress
    estimated_completion_time: datetime | None
    """When it is expected to end; null when that is not known."""
    source: BatchSource | None = None
    job: BatchJob
    """The same batch, with other names."""

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
            source=maybe(BatchSource.from_json)(data.get("source")),
            job=BatchJob.from_json(data["job"]),
        )


@dataclass(frozen=True, kw_only=True)
class BatchPartList:
    total: int
    """How many there are in all."""
    limit: int
    """How many this response may have."""
    offset: int
    """How many were skipped."""
    parts: list[BatchPart]
    """In their order."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BatchPartList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            parts=each(BatchPart.from_json)(data["parts"]),
        )


@dataclass(frozen=True, kw_only=True)
class BatchPart:
    part: int
    """Its number."""
    items: int
    """PDFs in it."""
    pages: int
    """Its pages."""
    first_item_id: str
    """The item of its first PDF."""
    last_item_id: str
    """The item of its last PDF."""
    first_row: int
    """The number of the first item in the batch."""
    last_row: int
    """The number of the last item in the batch."""
    url: str
    """The path of the merged PDF."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BatchPart:
        return cls(
            part=data["part"],
            items=data["items"],
            pages=data["pages"],
            first_item_id=data["firstItemId"],
            last_item_id=data["lastItemId"],
            first_row=data["firstRow"],
            last_row=data["lastRow"],
            url=data["url"],
        )


@dataclass(frozen=True, kw_only=True)
class UsageSummaryKeyBreakdown:
    api_key_id: str
    """The API key that requested it."""
    total_requests: int
    """How many requests there were."""
    failed_count: int
    """How many have failed."""

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
    """Requests for renders that have ended: rejected, or with a job that has ended."""
    success_count: int
    """How many have succeeded."""
    failed_count: int
    """How many have failed."""
    errors_by_category: dict[str, int]
    """How many failed, by category."""
    remaining: int
    """PDFs left of the quota of this month."""
    requests_per_minute: int
    """Requests a minute that the plan allows."""
    concurrent_renders: int
    """Renders that the plan allows at a time."""
    max_input_size_bytes: int
    """The largest body that the plan allows, in bytes."""
    max_output_size_bytes: int
    """The largest PDF that the plan allows, in bytes."""
    max_timeout_ms: int
    """The longest time-out that the plan allows, in milliseconds."""
    reset_date: str
    """The day on which the quota begins anew."""
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
    """One of the codes that docs/errors.md lists."""
    count: int
    """How many."""
    refused: int
    """Of these, requests that were refused."""
    remedy: str
    """What can be done about it."""
    docs_url: str
    """Where the documentation says more of it."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UsageSeriesErrors:
        return cls(
            code=data["code"],
            count=data["count"],
            refused=data["refused"],
            remedy=data["remedy"],
            docs_url=data["docsUrl"],
        )


@dataclass(frozen=True, kw_only=True)
class UsageSeries:
    interval: Literal["hour", "day"]
    """The length of each point."""
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
    """How many there are in all."""
    failed: int
    """How many have failed."""
    refused: int
    """Of the failed ones, requests that were refused: they have no job."""
    errors_by_category: dict[str, int]
    """How many failed, by category."""
    errors_by_code: dict[str, int]
    """How many failed, by code."""
    refused_by_code: dict[str, int]
    """How many were refused, by code."""
    pages: int
    """Of the PDFs that were rendered."""
    bytes: int
    """Of the same."""
    durations: list[int]
    """Durations of the renders: how many took up to each of `durationBoundsMs`, and last how
    many took longer."""
    phases_ms: RenderAttemptPhases
    """Total milliseconds of the renders in each phase."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UsagePoint:
        return cls(
            at=time_of(data["at"]),
            total=data["total"],
            failed=data["failed"],
            refused=data["refused"],
            errors_by_category=data["errorsByCategory"],
            errors_by_code=data["errorsByCode"],
            refused_by_code=data["refusedByCode"],
            pages=data["pages"],
            bytes=data["bytes"],
            durations=data["durations"],
            phases_ms=RenderAttemptPhases.from_json(data["phasesMs"]),
        )


@dataclass(frozen=True, kw_only=True)
class BatchMetricsCommonFailureReasons:
    code: str
    """One of the codes that docs/errors.md lists."""
    count: int
    """How many."""

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
    """Batches that have not ended."""
    queued_batches: int
    """Batches of which nothing has begun."""
    processing_batches: int
    """Batches of which some has begun."""
    completion_rate_percent: float
    """Share of the ended batches that were not cancelled, in percent."""
    item_success_rate_percent: float
    """Share of the items that were completed, in percent."""
    item_eligible_count: int
    """Items that completed or failed, without cancelled ones."""
    webhook_success_rate_percent: float
    """Share of the callbacks that were delivered, in percent."""
    webhook_eligible_count: int
    """Batches whose callback was delivered, or failed for good."""
    webhook_delivered_count: int
    """Callbacks that were delivered."""
    average_items_per_batch: float
    """Items of a batch, on average."""
    average_batch_processing_time_ms: float
    """From the start of the first item to the end of the last."""
    common_failure_reasons: list[BatchMetricsCommonFailureReasons]
    """The errors of items, most frequent first. All time-outs are `TIMEOUT`."""
    lookback_days: int
    """How many days back it looks."""
    generated_at: datetime
    """When it was computed."""

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
    """Counts of the whole period."""

    success_count: int
    """How many have succeeded."""
    failed_count: int
    """How many have failed."""

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
    """How many this response may have."""
    offset: int
    """How many were skipped."""
    details_kept: bool
    """Whether headers and bodies of requests are kept."""
    details_kept_hours: int
    """For how long, by the plan."""
    endpoint_options: list[str]
    """The endpoints that were asked for."""
    summary: RequestLogListSummary
    """Counts of the whole period."""
    logs: list[RequestLogEntry]
    """The requests of this page."""
    can_reveal_ip: bool
    """Whether the plan shows whole addresses."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RequestLogList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            details_kept=data["detailsKept"],
            details_kept_hours=data["detailsKeptHours"],
            endpoint_options=data["endpointOptions"],
            summary=RequestLogListSummary.from_json(data["summary"]),
            logs=each(RequestLogEntry.from_json)(data["logs"]),
            can_reveal_ip=data["canRevealIp"],
        )


@dataclass(frozen=True, kw_only=True)
class RequestLogEntry:
    id: str
    """Its id."""
    api_key_id: str
    """The API key that requested it."""
    api_key_prefix: str
    """The leading characters of that key."""
    endpoint: str
    """Path of the route."""
    ip_address: str
    """Without its last octet (IPv4) or its last 80 bits (IPv6), unless the plan reveals it."""
    status: Literal["success", "error"]
    """Its state."""
    error_reason: str | None
    """The error's code."""
    method: str | None
    """Of HTTP. Null, as the next two, of an entry of an earlier version."""
    status_code: int | None
    """Of the response."""
    duration_ms: int | None
    """Milliseconds from the request to its response."""
    job_id: str | None
    """The job or batch that it got; null without one."""
    created_at: datetime
    """When it was made or accepted."""

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
            method=data["method"],
            status_code=data["statusCode"],
            duration_ms=data["durationMs"],
            job_id=data["jobId"],
            created_at=time_of(data["createdAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class Success:

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Success:
        return cls(
        )


@dataclass(frozen=True, kw_only=True)
class LoggedRequestSaid:
    """Null if it is not kept, or no longer."""

    path: str
    """With its query; secrets are `***`."""
    request: LoggedSide
    response: LoggedSide
    kept_until: datetime
    """When this is deleted."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LoggedRequestSaid:
        return cls(
            path=data["path"],
            request=LoggedSide.from_json(data["request"]),
            response=LoggedSide.from_json(data["response"]),
            kept_until=time_of(data["keptUntil"]),
        )


@dataclass(frozen=True, kw_only=True)
class LoggedRequest:
    id: str
    """Its id."""
    api_key_id: str
    """The API key that requested it."""
    api_key_prefix: str
    """The leading characters of that key."""
    endpoint: str
    """Path of the route."""
    ip_address: str
    """Without its last octet (IPv4) or its last 80 bits (IPv6), unless the plan reveals it."""
    status: Literal["success", "error"]
    """Its state."""
    error_reason: str | None
    """The error's code."""
    method: str | None
    """Of HTTP. Null, as the next two, of an entry of an earlier version."""
    status_code: int | None
    """Of the response."""
    duration_ms: int | None
    """Milliseconds from the request to its response."""
    job_id: str | None
    """The job or batch that it got; null without one."""
    created_at: datetime
    """When it was made or accepted."""
    said: LoggedRequestSaid | None
    """Null if it is not kept, or no longer."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LoggedRequest:
        return cls(
            id=data["id"],
            api_key_id=data["apiKeyId"],
            api_key_prefix=data["apiKeyPrefix"],
            endpoint=data["endpoint"],
            ip_address=data["ipAddress"],
            status=data["status"],
            error_reason=data["errorReason"],
            method=data["method"],
            status_code=data["statusCode"],
            duration_ms=data["durationMs"],
            job_id=data["jobId"],
            created_at=time_of(data["createdAt"]),
            said=maybe(LoggedRequestSaid.from_json)(data["said"]),
        )


@dataclass(frozen=True, kw_only=True)
class LoggedSideHeaders:
    name: str
    """Its name."""
    value: str
    """Secrets are `***`."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LoggedSideHeaders:
        return cls(
            name=data["name"],
            value=data["value"],
        )


@dataclass(frozen=True, kw_only=True)
class LoggedSide:
    headers: list[LoggedSideHeaders]
    """The first of them, 1 KiB; secrets are `***`."""
    body: LoggedBody | None
    """Null without one."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LoggedSide:
        return cls(
            headers=each(LoggedSideHeaders.from_json)(data["headers"]),
            body=maybe(LoggedBody.from_json)(data["body"]),
        )


@dataclass(frozen=True, kw_only=True)
class LoggedBody:
    type: str | None
    """The media type."""
    size: int | None
    """Bytes; null if it is not known."""
    text: str | None
    """JSON of some 4 KiB, with long values cut and secrets as `***`; null if it is no JSON."""
    is_whole: bool
    """Whether `text` has the whole body but for its secrets."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LoggedBody:
        return cls(
            type=data["type"],
            size=data["size"],
            text=data["text"],
            is_whole=data["isWhole"],
        )


@dataclass(frozen=True, kw_only=True)
class AccessToken:
    access_token: str
    """For the header Authorization: Bearer."""
    token_type: Literal["Bearer"]
    """How the token is sent."""
    expires_at: datetime
    """Until when it is valid, or can be fetched."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AccessToken:
        return cls(
            access_token=data["accessToken"],
            token_type=data["tokenType"],
            expires_at=time_of(data["expiresAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class Account:
    id: str
    """The account that the person acts for."""
    name: str
    """What the account is called: as its owner has named it, or else by the address of its
    owner."""
    email: str | None
    """The address of the person. Null if the issuer confirms no address."""
    person_id: str
    """The person who has signed in."""
    role: Literal["owner", "developer", "billing", "viewer", "none"]
    """What the person may do in the account. `none`: the person belongs to no account, and can
    only accept an invitation."""
    owner_email: str | None
    """The address of the owner of the account."""
    sign_in_by: Literal["password", "issuer", "operator"]
    """How the person signs in: with a password of this service, with an OpenID Connect issuer,
    or, without a password, with a link from the operator, such as the one that standalone
    prints."""
    email_confirmed: bool
    """Whether the person has confirmed the address: by the link of a mail, or through an issuer."""
    second_factor: bool
    """Whether the person has signed in with a second factor, or through an issuer."""
    second_factor_required: bool
    """Whether the account is open only to people who have."""
    required_domain: str | None
    """The mail domain at whose issuer the person has to sign in to open the account; null if any
    sign-in will do."""
    confirmation_needed: bool
    """Whether live API keys, and live renders without a key, are allowed only once the address
    is confirmed."""
    taken_over_at: datetime | None
    """When the owner of the address took the account over from the person who registered it. API
    keys and work from before have ended; templates from before are still there. Null if that
    never happened."""
    plan: str
    """The name of its plan."""
    created_at: datetime
    """When it was made or accepted."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Account:
        return cls(
            id=data["id"],
            name=data["name"],
            email=data["email"],
            person_id=data["personId"],
            role=data["role"],
            owner_email=data["ownerEmail"],
            sign_in_by=data["signInBy"],
            email_confirmed=data["emailConfirmed"],
            second_factor=data["secondFactor"],
            second_factor_required=data["secondFactorRequired"],
            required_domain=data["requiredDomain"],
            confirmation_needed=data["confirmationNeeded"],
            taken_over_at=maybe(time_of)(data["takenOverAt"]),
            plan=data["plan"],
            created_at=time_of(data["createdAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class AuthConfigPasswordLength:
    """Characters of a password."""

    min: int
    """The smallest."""
    max: int
    """The largest."""

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
    """Whether there is an OpenID Connect issuer, for GET /auth/oidc/start."""
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
    """When the session ends, even if it is in use."""
    idle_timeout_seconds: int
    """The session ends earlier if it is not used for this many seconds."""

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
    """How many this response may have."""
    offset: int
    """How many were skipped."""
    sessions: list[Session]
    """The sessions of this page."""

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
    """Its id."""
    current: bool
    """Whether this request comes with it."""
    created_at: datetime
    """When it was made or accepted."""
    last_used_at: datetime
    """When it was last used, to the minute."""
    expires_at: datetime
    """Until when it is valid, or can be fetched."""
    ip_address: str | None
    """Where it was begun from."""
    user_agent: str | None
    """The User-Agent of the browser; its first 256 characters."""

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
class OwnAccountList:
    accounts: list[OwnAccount]
    """The accounts."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> OwnAccountList:
        return cls(
            accounts=each(OwnAccount.from_json)(data["accounts"]),
        )


@dataclass(frozen=True, kw_only=True)
class OwnAccount:
    id: str
    """Its id."""
    name: str
    """What the account is called: as its owner has named it, or else by the address of its
    owner."""
    owner_email: str | None
    """The address of the owner of the account."""
    role: Literal["owner", "developer", "billing", "viewer", "none"]
    """What the person may do in it."""
    plan: str
    """The name of its plan."""
    current: bool
    """Whether this session or token acts for it."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> OwnAccount:
        return cls(
            id=data["id"],
            name=data["name"],
            owner_email=data["ownerEmail"],
            role=data["role"],
            plan=data["plan"],
            current=data["current"],
        )


@dataclass(frozen=True, kw_only=True)
class OfferedInvitation:
    email: str
    """The address that is invited."""
    role: Literal["developer", "billing", "viewer"]
    """`developer`: documents, templates, keys and callbacks. `billing`: plan, purchases and
    invoices. `viewer`: sees documents, templates and logs, and changes nothing."""
    expires_at: datetime
    """Until when it can be accepted."""
    name: str
    """What the account is called: as its owner has named it, or else by the address of its
    owner."""
    owner_email: str | None
    """The address of the owner of the account."""
    has_sign_in: bool
    """Whether the address has a password here already."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> OfferedInvitation:
        return cls(
            email=data["email"],
            role=data["role"],
            expires_at=time_of(data["expiresAt"]),
            name=data["name"],
            owner_email=data["ownerEmail"],
            has_sign_in=data["hasSignIn"],
        )


@dataclass(frozen=True, kw_only=True)
class SecondFactor:
    since: datetime | None
    """Since when sign-ins need a code; null if they do not."""
    recovery_codes_left: int
    """Recovery codes that were not used."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SecondFactor:
        return cls(
            since=maybe(time_of)(data["since"]),
            recovery_codes_left=data["recoveryCodesLeft"],
        )


@dataclass(frozen=True, kw_only=True)
class BegunSecondFactor:
    secret: str
    """In base32, to be typed into an app."""
    uri: str
    """The same as an address (`otpauth:`), which apps read from a QR code."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BegunSecondFactor:
        return cls(
            secret=data["secret"],
            uri=data["uri"],
        )


@dataclass(frozen=True, kw_only=True)
class RecoveryCodes:
    recovery_codes: list[str]
    """Each replaces a code of the app once. They are only in this response."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RecoveryCodes:
        return cls(
            recovery_codes=data["recoveryCodes"],
        )


@dataclass(frozen=True, kw_only=True)
class PasskeyChallenge:
    challenge: str
    """What is signed, in base64url."""
    rp_id: str
    """The name that passkeys are made for: the host of the public address."""
    timeout: int
    """Milliseconds in which it can be signed."""
    user_verification: Literal["required"]
    """The device has to make sure who uses it."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PasskeyChallenge:
        return cls(
            challenge=data["challenge"],
            rp_id=data["rpId"],
            timeout=data["timeout"],
            user_verification=data["userVerification"],
        )


@dataclass(frozen=True, kw_only=True)
class PasskeyList:
    passkeys: list[Passkey]
    """The passkeys."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PasskeyList:
        return cls(
            passkeys=each(Passkey.from_json)(data["passkeys"]),
        )


@dataclass(frozen=True, kw_only=True)
class Passkey:
    id: str
    """Names the passkey here. It is not the id of the credential."""
    name: str
    """By which the person tells it from others."""
    created_at: datetime
    """When it was made."""
    last_used_at: datetime | None
    """When it last signed the person in; null if it never did."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Passkey:
        return cls(
            id=data["id"],
            name=data["name"],
            created_at=time_of(data["createdAt"]),
            last_used_at=maybe(time_of)(data["lastUsedAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class AddedPasskey:
    passkey: Passkey
    recovery_codes: list[str] | None
    """With the first factor of a person: each replaces the passkey once besides the password.
    They are only in this response."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AddedPasskey:
        return cls(
            passkey=Passkey.from_json(data["passkey"]),
            recovery_codes=data["recoveryCodes"],
        )


@dataclass(frozen=True, kw_only=True)
class BegunPasskeyOptions:
    """PublicKeyCredentialCreationOptionsJSON, as WebAuthn has it."""

    challenge: str
    """What the authenticator signs, in base64url."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BegunPasskeyOptions:
        return cls(
            challenge=data["challenge"],
        )


@dataclass(frozen=True, kw_only=True)
class BegunPasskey:
    options: BegunPasskeyOptions
    """PublicKeyCredentialCreationOptionsJSON, as WebAuthn has it."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BegunPasskey:
        return cls(
            options=BegunPasskeyOptions.from_json(data["options"]),
        )


@dataclass(frozen=True, kw_only=True)
class MemberList:
    total: int
    """The number of members, the owner included."""
    members: list[Member]
    """The owner first."""
    invitations: list[TeamInvitation]
    """Those that can be accepted. Only owners see them."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> MemberList:
        return cls(
            total=data["total"],
            members=each(Member.from_json)(data["members"]),
            invitations=each(TeamInvitation.from_json)(data["invitations"]),
        )


@dataclass(frozen=True, kw_only=True)
class Member:
    person_id: str
    """The person."""
    email: str | None
    """The address with which the person signs in."""
    role: Literal["owner", "developer", "billing", "viewer", "none"]
    """What the person may do in the account."""
    since: datetime
    """When the person joined."""
    current: bool
    """Whether it is the person of this request."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Member:
        return cls(
            person_id=data["personId"],
            email=data["email"],
            role=data["role"],
            since=time_of(data["since"]),
            current=data["current"],
        )


@dataclass(frozen=True, kw_only=True)
class TeamInvitation:
    id: str
    """Names the invitation. It is not its secret."""
    email: str
    """Where it was sent."""
    role: Literal["developer", "billing", "viewer"]
    """`developer`: documents, templates, keys and callbacks. `billing`: plan, purchases and
    invoices. `viewer`: sees documents, templates and logs, and changes nothing."""
    created_at: datetime
    """When it was sent."""
    expires_at: datetime
    """Until when it can be accepted."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TeamInvitation:
        return cls(
            id=data["id"],
            email=data["email"],
            role=data["role"],
            created_at=time_of(data["createdAt"]),
            expires_at=time_of(data["expiresAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class SignInDomainList:
    domains: list[SignInDomain]
    """By domain."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SignInDomainList:
        return cls(
            domains=each(SignInDomain.from_json)(data["domains"]),
        )


@dataclass(frozen=True, kw_only=True)
class SignInDomainProof:
    """The record of the domain that shows that it is the account’s."""

    type: Literal["TXT"]
    """The type of the record."""
    name: str
    """Its name."""
    value: str
    """Its value."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SignInDomainProof:
        return cls(
            type=data["type"],
            name=data["name"],
            value=data["value"],
        )


@dataclass(frozen=True, kw_only=True)
class SignInDomain:
    domain: str
    """The part of addresses after the @."""
    issuer: str
    """The issuer identifier."""
    client_id: str
    """The client that the issuer knows this service as."""
    has_client_secret: bool
    """Whether there is a secret of that client."""
    role: Literal["developer", "billing", "viewer"]
    """The role of people who sign in for the first time."""
    required: bool
    """Whether members with addresses of the domain, but the owner, may open the account only so."""
    redirect_uri: str
    """Where the issuer has to be allowed to send people back to."""
    proof: SignInDomainProof
    """The record of the domain that shows that it is the account’s."""
    verified_at: datetime | None
    """Since when the domain is the account’s; null until it is shown."""
    created_at: datetime
    """When it was claimed."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SignInDomain:
        return cls(
            domain=data["domain"],
            issuer=data["issuer"],
            client_id=data["clientId"],
            has_client_secret=data["hasClientSecret"],
            role=data["role"],
            required=data["required"],
            redirect_uri=data["redirectUri"],
            proof=SignInDomainProof.from_json(data["proof"]),
            verified_at=maybe(time_of)(data["verifiedAt"]),
            created_at=time_of(data["createdAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class ApiKeyList:
    total: int
    """How many there are in all."""
    limit: int
    """How many this response may have."""
    offset: int
    """How many were skipped."""
    keys: list[ApiKey]
    """The keys of this page."""

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
    """Its id."""
    name: str
    """Its name."""
    prefix: str
    """The leading characters of the secret."""
    mode: Literal["live", "test"]
    """`live` or `test`."""
    status: Literal["active", "revoked"]
    """Its state."""
    created_at: datetime
    """When it was made or accepted."""
    last_used_at: datetime | None
    """When it was last used; null if never."""
    last_used_ip: str | None
    """Where it was last used from; null if never."""
    last_used_geo: str | None
    """A country."""
    revoked_at: datetime | None
    """When it was revoked; null while it is active."""
    created_by: str | None
    """The address of the person who made it; null if it is not known, as for keys of the
    operator."""
    allowed_ips: list[str]
    """Addresses and networks that the key may be used from. An empty list allows all."""

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
            created_by=data["createdBy"],
            allowed_ips=data["allowedIps"],
        )


@dataclass(frozen=True, kw_only=True)
class NewApiKey:
    id: str
    """Its id."""
    api_key: str
    """The secret. It is only in this response and cannot be recovered."""
    prefix: str
    """The leading characters of the secret."""
    mode: Literal["live", "test"]
    """`live` or `test`."""

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
    """Its id."""
    name: str
    """Its name."""
    content: str
    """HTML with Liquid."""
    sample_data: str
    """A JSON document serialized as a string."""
    data_schema: str | None = None
    """The JSON Schema of its data serialized as a string; absent without one."""
    options: RenderOptions | None = None
    """Options of its renders; absent without any."""
    version_id: str
    """The version that renders use unless they pin another."""
    version: int
    """Its number, or the version."""
    created_at: datetime
    """When it was made or accepted."""
    updated_at: datetime
    """When it last changed."""

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
    """How many this response may have."""
    offset: int
    """How many were skipped."""
    templates: list[Template]
    """The templates of this page."""

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
    """How many this response may have."""
    offset: int
    """How many were skipped."""
    templates: list[TemplateSummary]
    """The templates of this page."""

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
    """Its id."""
    name: str
    """Its name."""
    version_id: str
    """The version that renders use unless they pin another."""
    version: int
    """Its number, or the version."""
    created_at: datetime
    """When it was made or accepted."""
    updated_at: datetime
    """When it last changed."""
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
    """The HTML."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Preview:
        return cls(
            html=data["html"],
        )


@dataclass(frozen=True, kw_only=True)
class AcceptedUserRender:
    job_id: str
    """The job or batch."""
    status: Literal["queued"]
    """Its state."""
    status_url: str
    """Path or address of its status."""
    file_url: str
    """Path or address of the PDF."""
    retry_of: str | None
    """What it repeats."""

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
class TemplateDraftResponse:
    draft: TemplateDraft | None
    """null while the template has none."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TemplateDraftResponse:
        return cls(
            draft=maybe(TemplateDraft.from_json)(data["draft"]),
        )


@dataclass(frozen=True, kw_only=True)
class TemplateDraft:
    draft_id: str
    """Another one after each change of the draft."""
    name: str
    """Its name."""
    content: str
    """HTML with Liquid."""
    sample_data: str
    """A JSON document serialized as a string."""
    data_schema: str | None
    """The JSON Schema of its data; null for none."""
    options: RenderOptions | None
    """Options of its renders; null for none."""
    base_version_id: str
    """The version that it was made from."""
    author: str | None
    """The address of the person who changed it last."""
    updated_at: datetime
    """When it last changed."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TemplateDraft:
        return cls(
            draft_id=data["draftId"],
            name=data["name"],
            content=data["content"],
            sample_data=data["sampleData"],
            data_schema=data["dataSchema"],
            options=data["options"],
            base_version_id=data["baseVersionId"],
            author=data["author"],
            updated_at=time_of(data["updatedAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class TemplateVersionList:
    total: int
    """How many there are in all."""
    limit: int
    """How many this response may have."""
    offset: int
    """How many were skipped."""
    versions: list[TemplateVersionSummary]
    """The versions of this page, the newest first."""

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
    """Its id."""
    version_id: str
    """The same as `id`, by the name it has elsewhere."""
    template_id: str
    """The template."""
    version: int
    """Its number, or the version."""
    name: str
    """Its name."""
    current: bool
    """Whether renders use it unless they pin another."""
    author: str | None
    """The address of the person who saved it; null if it is not known."""
    message: str | None
    """What its author says of it; null for nothing."""
    created_at: datetime
    """When it was made or accepted."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TemplateVersionSummary:
        return cls(
            id=data["id"],
            version_id=data["versionId"],
            template_id=data["templateId"],
            version=data["version"],
            name=data["name"],
            current=data["current"],
            author=data["author"],
            message=data["message"],
            created_at=time_of(data["createdAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class TemplateVersion:
    id: str
    """Its id."""
    version_id: str
    """The same as `id`, by the name it has elsewhere."""
    template_id: str
    """The template."""
    version: int
    """Its number, or the version."""
    name: str
    """Its name."""
    current: bool
    """Whether renders use it unless they pin another."""
    author: str | None
    """The address of the person who saved it; null if it is not known."""
    message: str | None
    """What its author says of it; null for nothing."""
    created_at: datetime
    """When it was made or accepted."""
    content: str
    """HTML with Liquid."""
    sample_data: str
    """A JSON document serialized as a string."""
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
            author=data["author"],
            message=data["message"],
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
    """How many this response may have."""
    offset: int
    """How many were skipped."""
    entries: list[AuditEntry]
    """The entries of this page."""

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
    """Its id."""
    action: Literal["account.registered", "account.signed_in", "account.sign_in_failed", "account.signed_out", "account.plan_changed", "account.quota_period_changed", "account.password_reset", "account.tokens_revoked", "account.address_confirmed", "account.taken_over", "account.owner_changed", "account.renamed", "account.second_factor_required", "account.request_details_changed", "second_factor.added", "second_factor.removed", "passkey.added", "passkey.removed", "account.suspended", "account.resumed", "account.deletion_requested", "account.deleted", "billing.subscription_cancelled", "billing.subscription_resumed", "billing.plan_change_scheduled", "billing.plan_change_withdrawn", "billing.auto_overage_changed", "billing.block_granted", "billing.block_frozen", "billing.block_taken_back", "billing.block_returned", "billing.block_expired", "domain.claimed", "domain.verified", "domain.changed", "domain.removed", "member.invited", "member.invitation_revoked", "member.joined", "member.role_changed", "member.removed", "key.created", "key.rotated", "key.changed", "key.revoked", "webhook_key.rotated", "notifications.changed", "template.saved", "template.deleted", "render.shared", "render.share_revoked", "job.retried", "job.cancelled", "callback.retried", "mail.retried", "billing.retried", "worker.drained", "worker.resumed", "audit.entries_left_out"]
    """What was done."""
    actor: Literal["account", "anonymous", "operator", "billing"]
    """`anonymous`: somebody who has not shown to be the account."""
    person_id: str | None
    """The person who did it; null if it is not known, or was nobody of the account."""
    person: str | None
    """The address of that person."""
    ip_address: str | None
    """Where the request came from."""
    target_id: str | None
    """The key, template, render or block that it was about."""
    details: dict[str, str]
    """More about it."""
    created_at: datetime
    """When it was made or accepted."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AuditEntry:
        return cls(
            id=data["id"],
            action=data["action"],
            actor=data["actor"],
            person_id=data["personId"],
            person=data["person"],
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
    """How many this response may have."""
    offset: int
    """How many were skipped."""
    renders: list[UserRender]
    """The renders of this page."""
    searched_to: datetime | None
    """Where a search has ended after 5000 renders: it goes on with this as `to` (with
    `created_asc` as `from`). Null if it has looked at all, and of a list that is no search."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UserRenderList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            renders=each(UserRender.from_json)(data["renders"]),
            searched_to=maybe(time_of)(data["searchedTo"]),
        )


@dataclass(frozen=True, kw_only=True)
class UserRender:
    job_id: str
    """The job or batch."""
    status: JobStatus
    """Its state."""
    input_mode: Literal["html", "url", "template", "pdf"]
    """What it was made of: HTML, a web page, a template or a PDF."""
    output_mode: Literal["binary", "url"]
    """Whether the PDF itself or its address was requested."""
    created_at: datetime
    """When it was made or accepted."""
    updated_at: datetime
    """When it last changed."""
    completed_at: datetime | None
    """When it was completed; null before."""
    output_available: bool
    """Whether there is a PDF to download."""
    output_expires_at: datetime | None
    """End of the retention window."""
    download_url_endpoint: str
    """Path that responds with a signed address of the PDF."""
    file_name: str
    """Name of the PDF file."""
    pdf_size: int
    """Bytes; 0 until completed."""
    pages: int
    """0 until completed."""
    processing_time_ms: int
    """Duration of the render in milliseconds."""
    attempt_count: int
    """Attempts so far."""
    retry_attempt: int | None
    """Which retry comes next; null when none does."""
    max_attempts: int
    """How many attempts there may be."""
    will_retry: bool
    """Whether another attempt follows."""
    dead_lettered: bool
    """True once the job has failed for good: stop polling."""
    error: Failure | None
    """Can be present while willRetry is true."""
    report_endpoint: str | None = None
    """Where its report is: from its end on, if one was asked for."""
    upload: Upload | None = None
    """What became of its upload, if one was asked for."""
    mode: Literal["live", "test"]
    """The mode of the API key. Test renders have a watermark and use no quota."""
    api_key_id: str | None
    """Null if it was requested without a key, from the dashboard."""
    api_key_prefix: str | None
    """Null without a key, and of one that is long revoked."""
    format: str
    """Paper format."""
    template_id: str | None
    """The template."""
    retry_of: str | None
    """The job that it repeats."""
    queued_ms: int
    """Milliseconds from acceptance to the first attempt, or until now while it waits."""

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
            upload=maybe(Upload.from_json)(data.get("upload")),
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
    """Why it waits; null if it does not wait."""

    ahead: int | None
    """Jobs of the account that are rendered before it; null if it does not wait."""
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
    """The job or batch."""
    status: JobStatus
    """Its state."""
    input_mode: Literal["html", "url", "template", "pdf"]
    """What it was made of: HTML, a web page, a template or a PDF."""
    output_mode: Literal["binary", "url"]
    """Whether the PDF itself or its address was requested."""
    created_at: datetime
    """When it was made or accepted."""
    updated_at: datetime
    """When it last changed."""
    completed_at: datetime | None
    """When it was completed; null before."""
    output_available: bool
    """Whether there is a PDF to download."""
    output_expires_at: datetime | None
    """End of the retention window."""
    download_url_endpoint: str
    """Path that responds with a signed address of the PDF."""
    file_name: str
    """Name of the PDF file."""
    pdf_size: int
    """Bytes; 0 until completed."""
    pages: int
    """0 until completed."""
    processing_time_ms: int
    """Duration of the render in milliseconds."""
    attempt_count: int
    """Attempts so far."""
    retry_attempt: int | None
    """Which retry comes next; null when none does."""
    max_attempts: int
    """How many attempts there may be."""
    will_retry: bool
    """Whether another attempt follows."""
    dead_lettered: bool
    """True once the job has failed for good: stop polling."""
    error: Failure | None
    """Can be present while willRetry is true."""
    report_endpoint: str | None = None
    """Where its report is: from its end on, if one was asked for."""
    upload: Upload | None = None
    """What became of its upload, if one was asked for."""
    mode: Literal["live", "test"]
    """The mode of the API key. Test renders have a watermark and use no quota."""
    api_key_id: str | None
    """Null if it was requested without a key, from the dashboard."""
    api_key_prefix: str | None
    """Null without a key, and of one that is long revoked."""
    format: str
    """Paper format."""
    template_id: str | None
    """The template."""
    retry_of: str | None
    """The job that it repeats."""
    queued_ms: int
    """Milliseconds from acceptance to the first attempt, or until now while it waits."""
    attempts: list[RenderAttempt]
    """The first one first."""
    input_available: bool
    """Whether the input is still kept."""
    callback: UserRenderDetailCallback | None
    """Its callback; null without one."""
    queue: UserRenderDetailQueue
    """Why it waits; null if it does not wait."""

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
            upload=maybe(Upload.from_json)(data.get("upload")),
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
    """Its id."""
    url: str
    """The address."""
    status: Literal["pending", "delivered", "failed"]
    """Its state."""
    attempt_count: int
    """Attempts so far."""
    response_status: int | None
    """The status that the receiver responded with; null without a response."""
    error: str | None
    """Why it failed; null when it did not."""

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
    """The HTML."""
    url: str | None = None
    """The address."""
    template_id: str | None = None
    """The template."""
    template_version_id: str | None = None
    """The version of the template."""
    content: str | None = None
    """Of the template, as it was accepted."""
    data: dict[str, Any] | None = None
    """The data of the template."""
    pdf: str | None = None
    """The PDF in base64."""
    pdf_job_id: str | None = None
    """The job whose PDF it is."""
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
            pdf=data.get("pdf"),
            pdf_job_id=data.get("pdfJobId"),
            options=data["options"],
        )


@dataclass(frozen=True, kw_only=True)
class Queue:
    in_flight: int
    """Jobs that hold a slot of the plan."""
    waiting: int
    """How many wait."""
    concurrent_renders: int
    """Slots that the plan has."""
    oldest_waiting_at: datetime | None
    """When the oldest of the jobs that are next was created."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Queue:
        return cls(
            in_flight=data["inFlight"],
            waiting=data["waiting"],
            concurrent_renders=data["concurrentRenders"],
            oldest_waiting_at=maybe(time_of)(data["oldestWaitingAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class SharedLink:
    id: str
    """By which it is revoked."""
    url: str
    """No key is needed for it."""
    expires_at: datetime
    """The end of the PDF, if that is earlier than was asked for."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SharedLink:
        return cls(
            id=data["id"],
            url=data["url"],
            expires_at=time_of(data["expiresAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class SharedLinks:
    links: list[ListedLink]
    """The newest first."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SharedLinks:
        return cls(
            links=each(ListedLink.from_json)(data["links"]),
        )


@dataclass(frozen=True, kw_only=True)
class ListedLink:
    id: str
    """By which it is revoked."""
    url: str
    """No key is needed for it."""
    expires_at: datetime
    """The end of the PDF, if that is earlier than was asked for."""
    created_at: datetime
    """When it was made or accepted."""
    created_by: str | None
    """The address of whoever made it; null if it is not known."""
    last_opened_at: datetime | None
    """To the minute; null if nobody has opened it."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ListedLink:
        return cls(
            id=data["id"],
            url=data["url"],
            expires_at=time_of(data["expiresAt"]),
            created_at=time_of(data["createdAt"]),
            created_by=data["createdBy"],
            last_opened_at=maybe(time_of)(data["lastOpenedAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class UserBatch:
    job_id: str
    """The job or batch."""
    status: JobStatus
    """`completed` when every item has ended, completed or failed."""
    created_at: datetime
    """When it was made or accepted."""
    updated_at: datetime
    """When it last changed."""
    completed_at: datetime | None
    """When it was completed; null before."""
    finished_at: datetime | None
    """When the last item ended, also of a batch that was cancelled."""
    expires_at: datetime
    """Until when outputs can be downloaded. It is computed again when the batch ends."""
    zip_url: str
    """Path or address of the zip of the completed items."""
    manifest_available: bool
    """Whether there is a manifest."""
    manifest_download_url_endpoint: str
    """Path that responds with a signed address of the manifest."""
    progress: BatchProgress
    estimated_completion_time: datetime | None
    """When it is expected to end; null when that is not known."""
    source: BatchSource | None = None
    job: BatchJob
    """The same batch, with other names."""
    mode: Literal["live", "test"]
    """The mode of the API key."""
    api_key_id: str | None
    """Null if it was requested without a key, from the dashboard."""
    api_key_prefix: str | None
    """Null without a key, and of one that is long revoked."""
    webhook_url: str | None
    """Where its callback goes; null without one."""

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
            source=maybe(BatchSource.from_json)(data.get("source")),
            job=BatchJob.from_json(data["job"]),
            mode=data["mode"],
            api_key_id=data["apiKeyId"],
            api_key_prefix=data["apiKeyPrefix"],
            webhook_url=data["webhookUrl"],
        )


@dataclass(frozen=True, kw_only=True)
class UserBatchList:
    total: int
    """How many there are in all."""
    limit: int
    """How many this response may have."""
    offset: int
    """How many were skipped."""
    batches: list[UserBatch]
    """The batches of this page."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> UserBatchList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            batches=each(UserBatch.from_json)(data["batches"]),
        )


@dataclass(frozen=True, kw_only=True)
class UserBatchItemList:
    total: int
    """How many there are in all."""
    limit: int
    """How many this response may have."""
    offset: int
    """How many were skipped."""
    items: list[UserBatchItem]
    """The items, in the order of the request."""

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
    """The id that the request gave the item."""
    status: ItemStatus
    """A cancelled item has failed with `CANCELLED`."""
    output_available: bool
    """Whether there is a PDF to download."""
    download_url_endpoint: str
    """Path that responds with a signed address of the PDF."""
    output_expires_at: datetime | None
    """Until when the PDF can be downloaded."""
    error_message: str | None
    """The message of the error; null without one."""
    retry_attempt: int | None
    """Which retry comes next; null when none does."""
    error: Failure | None
    """Why it failed; null when it did not."""
    pdf_size: int
    """Bytes; 0 until completed."""
    pages: int
    """0 until completed."""
    processing_time_ms: int
    """Duration of the render in milliseconds."""
    report_endpoint: str | None = None
    """Where its report is: from its end on, if one was asked for."""
    upload: Upload | None = None
    """What became of its upload, if one was asked for."""
    job_id: str | None
    """The render of the item; null before it is made, and after it was deleted."""

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
            upload=maybe(Upload.from_json)(data.get("upload")),
            job_id=data["jobId"],
        )


@dataclass(frozen=True, kw_only=True)
class RetriedBatch:
    job_id: str
    """The job or batch."""
    status: Literal["queued"]
    """Its state."""
    item_count: int
    """Items of the batch."""
    total_count: int
    """Items of the batch."""
    status_url: str
    """Path or address of its status."""
    estimated_completion_time: datetime
    """When it is expected to end; null when that is not known."""
    expires_at: datetime
    """Until when it is valid, or can be fetched."""
    retry_of: str
    """What it repeats."""

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
    """How many this response may have."""
    offset: int
    """How many were skipped."""
    deliveries: list[WebhookDelivery]
    """The callbacks of this page."""
    searched_to: datetime | None
    """Where a search goes on: its `to`, or with `created_asc` its `from`. Null if all was looked
    at."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WebhookDeliveryList:
        return cls(
            total=data["total"],
            limit=data["limit"],
            offset=data["offset"],
            deliveries=each(WebhookDelivery.from_json)(data["deliveries"]),
            searched_to=maybe(time_of)(data["searchedTo"]),
        )


@dataclass(frozen=True, kw_only=True)
class WebhookDelivery:
    id: str
    """The value of `X-Service-Delivery-Id`, the same in every attempt."""
    event: Literal["batch.completed", "render.completed", "render.failed", "webhook.test"]
    """What has happened."""
    job_id: str
    """The batch or job that it is about. With `webhook.test` the id belongs to nothing."""
    url: str
    """The address."""
    status: Literal["pending", "delivered", "failed"]
    """Its state."""
    attempt_count: int
    """Attempts since it was created, or last sent again by hand."""
    created_at: datetime
    """When it was made or accepted."""
    last_attempt_at: datetime | None
    """When it was last sent; null before."""
    next_attempt_at: datetime | None
    """Null if no further attempt is made."""
    delivered_at: datetime | None
    """When the receiver accepted it; null before."""
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
class RedeliveredWebhooks:
    redelivered: int
    """Callbacks that are sent again."""
    next_since: datetime | None
    """The `since` of a further request, for those that are left; null if there are none."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RedeliveredWebhooks:
        return cls(
            redelivered=data["redelivered"],
            next_since=maybe(time_of)(data["nextSince"]),
        )


@dataclass(frozen=True, kw_only=True)
class WebhookDeliveryDetailAttemptsResponse:
    """What the receiver sent. Of the last 2 attempts; null if there was no response."""

    headers: list[LoggedSideHeaders]
    """The first of them; values that may be secrets are `***`."""
    body: str | None
    """The first 2048 bytes; null if they are no text in UTF-8."""
    body_is_cut: bool
    """Whether the body is longer."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WebhookDeliveryDetailAttemptsResponse:
        return cls(
            headers=each(LoggedSideHeaders.from_json)(data["headers"]),
            body=data["body"],
            body_is_cut=data["bodyIsCut"],
        )


@dataclass(frozen=True, kw_only=True)
class WebhookDeliveryDetailAttempts:
    at: datetime
    """When it happened."""
    response_status: int | None
    """The status that the receiver responded with; null without a response."""
    error: str | None
    """Why it failed; null when it did not."""
    duration_ms: int | None
    """To the end of the response; null if it is not known."""
    response: WebhookDeliveryDetailAttemptsResponse | None
    """What the receiver sent. Of the last 2 attempts; null if there was no response."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WebhookDeliveryDetailAttempts:
        return cls(
            at=time_of(data["at"]),
            response_status=data["responseStatus"],
            error=data["error"],
            duration_ms=data["durationMs"],
            response=maybe(WebhookDeliveryDetailAttemptsResponse.from_json)(data["response"]),
        )


@dataclass(frozen=True, kw_only=True)
class WebhookDeliveryDetail:
    id: str
    """The value of `X-Service-Delivery-Id`, the same in every attempt."""
    event: Literal["batch.completed", "render.completed", "render.failed", "webhook.test"]
    """What has happened."""
    job_id: str
    """The batch or job that it is about. With `webhook.test` the id belongs to nothing."""
    url: str
    """The address."""
    status: Literal["pending", "delivered", "failed"]
    """Its state."""
    attempt_count: int
    """Attempts since it was created, or last sent again by hand."""
    created_at: datetime
    """When it was made or accepted."""
    last_attempt_at: datetime | None
    """When it was last sent; null before."""
    next_attempt_at: datetime | None
    """Null if no further attempt is made."""
    delivered_at: datetime | None
    """When the receiver accepted it; null before."""
    response_status: int | None
    """The status of the last response of the receiver; null without one."""
    error: str | None
    """Why the last attempt failed."""
    payload: WebhookDeliveryDetailPayload
    attempts: list[WebhookDeliveryDetailAttempts]
    """The last 20 attempts, in order."""

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
    """The keys of this page."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WebhookKeyList:
        return cls(
            keys=each(WebhookKey.from_json)(data["keys"]),
        )


@dataclass(frozen=True, kw_only=True)
class WebhookKey:
    id: str
    """The value of `X-Service-Key-Id` while this key is the newest."""
    status: Literal["active", "retiring"]
    """`retiring`: signs together with the newest until it expires."""
    created_at: datetime
    """When it was made or accepted."""
    expires_at: datetime | None
    """Until when it is valid, or can be fetched."""

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
    """Its id."""
    secret: str
    """`whsec_` and the base64 of the key. It is only in this response."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> NewWebhookKey:
        return cls(
            id=data["id"],
            secret=data["secret"],
        )


@dataclass(frozen=True, kw_only=True)
class Alerts:
    quota: QuotaAlert
    spend: SpendAlert
    """Of automatic overage; null while it is off, and for roles that do not see it."""
    failures: FailureAlert
    """The hour in which too many renders have failed; null once renders succeed again."""
    webhooks: list[WebhookAlert]
    """Addresses at which callbacks do not arrive."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Alerts:
        return cls(
            quota=QuotaAlert.from_json(data["quota"]),
            spend=SpendAlert.from_json(data["spend"]),
            failures=FailureAlert.from_json(data["failures"]),
            webhooks=each(WebhookAlert.from_json)(data["webhooks"]),
        )


@dataclass(frozen=True, kw_only=True)
class QuotaAlert:
    used: int
    """PDFs made in the period, and those under way."""
    limit: int
    """PDFs of the plan and of blocks that were bought; while further ones are bought, of the
    plan alone."""
    left: int
    """PDFs that can still be made, with blocks."""
    percent: int
    """In whole percent; more than 100 where a plan has become smaller."""
    reached: int
    """The highest threshold that is reached; 0 for none."""
    renews_at: datetime
    """When the quota begins anew."""
    beyond: Literal["rejected", "bought"]
    """Whether renders beyond the limit are rejected, or a block is bought for them."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> QuotaAlert:
        return cls(
            used=data["used"],
            limit=data["limit"],
            left=data["left"],
            percent=data["percent"],
            reached=data["reached"],
            renews_at=time_of(data["renewsAt"]),
            beyond=data["beyond"],
        )


@dataclass(frozen=True, kw_only=True)
class SpendAlert:
    spent_cents: int
    """Spent on blocks in the period."""
    cap_cents: int
    """The most that may be spent in the period."""
    percent: int
    """In whole percent; more than 100 where a plan has become smaller."""
    reached: int
    """The highest threshold that is reached; 0 for none."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SpendAlert:
        return cls(
            spent_cents=data["spentCents"],
            cap_cents=data["capCents"],
            percent=data["percent"],
            reached=data["reached"],
        )


@dataclass(frozen=True, kw_only=True)
class FailureCode:
    code: str
    """One of the codes that docs/errors.md lists."""
    count: int
    """How many."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FailureCode:
        return cls(
            code=data["code"],
            count=data["count"],
        )


@dataclass(frozen=True, kw_only=True)
class FailureAlert:
    hour: datetime
    """Its beginning."""
    renders: int
    """The renders of this page."""
    failed: int
    """How many have failed."""
    codes: list[FailureCode]
    """The commonest first, 5 at most."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FailureAlert:
        return cls(
            hour=time_of(data["hour"]),
            renders=data["renders"],
            failed=data["failed"],
            codes=each(FailureCode.from_json)(data["codes"]),
        )


@dataclass(frozen=True, kw_only=True)
class WebhookAlert:
    url: str
    """Without its query."""
    since: datetime
    """The first failure in a row."""
    failures: int
    """Attempts in a row."""
    last_status: int | None
    """Of the last response; null without one."""
    last_error: str | None
    """Why there was no response; null if there was one."""
    next_attempt_at: datetime | None
    """Null when no further one is due."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WebhookAlert:
        return cls(
            url=data["url"],
            since=time_of(data["since"]),
            failures=data["failures"],
            last_status=data["lastStatus"],
            last_error=data["lastError"],
            next_attempt_at=maybe(time_of)(data["nextAttemptAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class Notifications:
    mails: list[NotificationChoice]
    """By kind of alert."""
    thresholds: AlertThresholds

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Notifications:
        return cls(
            mails=each(NotificationChoice.from_json)(data["mails"]),
            thresholds=AlertThresholds.from_json(data["thresholds"]),
        )


@dataclass(frozen=True, kw_only=True)
class NotificationChoice:
    kind: Literal["quota", "spend", "failures", "webhooks"]
    """The kind of alert."""
    on: bool
    """Whether the person gets these mails."""
    available: bool
    """Whether the role of the person allows them."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> NotificationChoice:
        return cls(
            kind=data["kind"],
            on=data["on"],
            available=data["available"],
        )


@dataclass(frozen=True, kw_only=True)
class AlertThresholds:
    quota_percents: list[Literal[50, 75, 80, 90, 95, 100]]
    """Percentages of the period's renders, and of the cap of automatic overage, that people are
    told of, in any order; none: of no percentage. Default: 50, 80, 100."""
    failure_percent: int
    """Renders of an hour of which more than this share fails, in percent; default 20."""
    failure_renders: int
    """The fewest renders of such an hour; default 20."""
    webhook_failures: int
    """Attempts to deliver to one address that fail in a row; an hour of failures counts as well.
    Default 20."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AlertThresholds:
        return cls(
            quota_percents=data["quotaPercents"],
            failure_percent=data["failurePercent"],
            failure_renders=data["failureRenders"],
            webhook_failures=data["webhookFailures"],
        )


@dataclass(frozen=True, kw_only=True)
class PlanList:
    current: str
    """The plan of the account."""
    plans: list[PlanRow]
    """The plans."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PlanList:
        return cls(
            current=data["current"],
            plans=each(PlanRow.from_json)(data["plans"]),
        )


@dataclass(frozen=True, kw_only=True)
class PlanRowLimitsFeatures:
    """What the plan has."""

    callbacks: bool
    """Whether callbacks are available."""
    template_versions: bool
    """Whether earlier versions of templates can be seen and restored."""
    reveal_ip: bool
    """Whether the request log shows whole IP addresses."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PlanRowLimitsFeatures:
        return cls(
            callbacks=data["callbacks"],
            template_versions=data["templateVersions"],
            reveal_ip=data["revealIp"],
        )


@dataclass(frozen=True, kw_only=True)
class PlanRowLimits:
    """What the plan allows."""

    monthly_renders: int
    """PDFs a month."""
    requests_per_minute: int
    """Requests a minute, of all keys of the account."""
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
    """Items in one batch: 10,000 at most in one request, all of them as rows of a file."""
    max_waiting_jobs: int
    """Jobs of one account that may wait for a slot."""
    max_stored_bytes: int
    """Storage of one account in bytes: PDFs, inputs of jobs that are not completed, templates
    with their versions, and records of batches and callbacks."""
    max_test_renders_per_day: int
    """Renders of test keys a day."""
    retention_hours: int
    """How long a finished PDF is kept, in hours; 0: it is deleted once it is delivered."""
    features: PlanRowLimitsFeatures
    """What the plan has."""

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
    """Its name."""
    current: bool
    """Whether the account has it."""
    sold: bool
    """Whether it can be bought here."""
    limits: PlanRowLimits
    """What the plan allows."""
    price_cents_per_month: int
    """Price in US cents a month."""

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
    """When the period ends."""
    cancel_at_period_end: bool | None = None
    """Whether the subscription ends with the period."""
    scheduled_plan: str | None = None
    """The plan that is scheduled to begin later."""
    scheduled_plan_effective_date: datetime | None = None
    """When that plan begins."""
    auto_overage_enabled: bool | None = None
    """Whether blocks are bought when the quota is used up."""
    auto_overage_block_size: int | None = None
    """PDFs of a block that is bought automatically."""
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
    """Whether the account can change to the plan."""
    current_plan: str
    """The plan in force."""
    target_plan: str | None = None
    """The plan to change to."""
    amount_due_cents: int | None = None
    """The amount due at once, for the rest of the period, in cents."""
    currency: str | None = None
    """Three letters, such as usd."""
    period_start: datetime | None = None
    """When the period began."""
    period_end: datetime | None = None
    """When the period ends."""

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
    """The page where the customer continues; empty if there is nothing left to do."""
    scheduled_plan: str | None = None
    """The plan that begins later."""
    scheduled_plan_effective_date: datetime | None = None
    """When that plan begins."""

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
    """The address."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> HostedPage:
        return cls(
            url=data["url"],
        )


@dataclass(frozen=True, kw_only=True)
class OveragePrices:
    currency: str
    """Of the prices, as `usd`."""
    blocks: list[OveragePrice]
    """The blocks that are sold."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> OveragePrices:
        return cls(
            currency=data["currency"],
            blocks=each(OveragePrice.from_json)(data["blocks"]),
        )


@dataclass(frozen=True, kw_only=True)
class OveragePrice:
    block_size: Literal[1000, 5000, 10000]
    """PDFs of the block."""
    price_cents: int
    """US cents, without taxes."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> OveragePrice:
        return cls(
            block_size=data["blockSize"],
            price_cents=data["priceCents"],
        )


@dataclass(frozen=True, kw_only=True)
class BillAutoOverage:
    """What blocks bought automatically have cost of their cap; null while it is off."""

    spent_cents: int
    """US cents, without taxes."""
    cap_cents: int
    """US cents, without taxes."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BillAutoOverage:
        return cls(
            spent_cents=data["spentCents"],
            cap_cents=data["capCents"],
        )


@dataclass(frozen=True, kw_only=True)
class BillNextInvoice:
    """The next renewal; null without one."""

    at: datetime
    """When it is due."""
    amount_cents: int
    """US cents, without taxes."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BillNextInvoice:
        return cls(
            at=time_of(data["at"]),
            amount_cents=data["amountCents"],
        )


@dataclass(frozen=True, kw_only=True)
class Bill:
    period_start: datetime
    """When the quota began."""
    period_end: datetime
    """When the quota begins anew."""
    quota: int
    """PDFs that the plan includes in the period."""
    used: int
    """PDFs made in the period with quota or blocks, and those under way."""
    remaining: int
    """PDFs left of the quota and of blocks."""
    plan_cents: int
    """The price of the subscription; 0 without one."""
    blocks: list[BoughtBlock]
    """Blocks beyond the quota that were bought in the period."""
    total_cents: int
    """Of the plan and of the blocks bought in the period."""
    auto_overage: BillAutoOverage | None
    """What blocks bought automatically have cost of their cap; null while it is off."""
    next_invoice: BillNextInvoice | None
    """The next renewal; null without one."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Bill:
        return cls(
            period_start=time_of(data["periodStart"]),
            period_end=time_of(data["periodEnd"]),
            quota=data["quota"],
            used=data["used"],
            remaining=data["remaining"],
            plan_cents=data["planCents"],
            blocks=each(BoughtBlock.from_json)(data["blocks"]),
            total_cents=data["totalCents"],
            auto_overage=maybe(BillAutoOverage.from_json)(data["autoOverage"]),
            next_invoice=maybe(BillNextInvoice.from_json)(data["nextInvoice"]),
        )


@dataclass(frozen=True, kw_only=True)
class BoughtBlock:
    block_size: int
    """PDFs of the block."""
    price_cents: int
    """US cents, without taxes."""
    bought_at: datetime
    """When it was asked for."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BoughtBlock:
        return cls(
            block_size=data["blockSize"],
            price_cents=data["priceCents"],
            bought_at=time_of(data["boughtAt"]),
        )


@dataclass(frozen=True, kw_only=True)
class InvoiceList:
    total: int
    """How many there are in all."""
    limit: int
    """How many this response may have."""
    offset: int
    """How many were skipped."""
    invoices: list[Invoice]
    """The invoices of this page."""
    status_options: list[str]
    """The values that `status` may have."""

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
    """Its id."""
    number: str | None
    """Null for a draft."""
    status: str
    """Its state."""
    currency: str
    """Three letters, such as usd."""
    amount_due_cents: int
    """What is to be paid, in cents."""
    amount_paid_cents: int
    """What was paid, in cents."""
    created_at: datetime
    """When it was made or accepted."""
    hosted_invoice_url: str | None
    """The page where it can be seen and paid; null for a draft."""
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
    """Whether the event was taken."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PaymentEventReceipt:
        return cls(
            received=data["received"],
        )


@dataclass(frozen=True, kw_only=True)
class RenderResultMetadata:
    """As the request gave it."""

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
    """Until when it is valid, or can be fetched."""
    metadata: RenderResultMetadata
    """As the request gave it."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RenderResult:
        return cls(
            url=data["url"],
            expires_at=time_of(data["expiresAt"]),
            metadata=RenderResultMetadata.from_json(data["metadata"]),
        )
