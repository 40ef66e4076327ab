"""What schemathesis is told beyond its configuration."""

import os

import schemathesis

# The codes that the description of the API says any request may be answered with.
ANYWHERE = {
    "invalid_request",
    "host_not_allowed",
    "origin_not_allowed",
    "request_timeout",
    "uri_too_long",
    "headers_too_large",
    "unsupported_media_type",
}


@schemathesis.check
def problem_is_listed(ctx, response, case):
    """A request is only refused with a code that its operation lists."""
    if response.status_code < 400 or response.status_code == 405:
        return
    code = response.json()["code"]
    listed = set(case.operation.definition.raw.get("x-problems", [])) | ANYWHERE
    assert code in listed, f"{code} is not among the problems of this operation"


if os.environ.get("PUNCTUAL_FOLLOW_LINKS"):
    # A chain of requests needs a first one that is accepted: bodies are the examples of the reference.
    @schemathesis.hook
    def map_body(ctx, body):
        content = ctx.operation.definition.raw.get("requestBody", {}).get("content", {})
        examples = content.get("application/json", {}).get("examples", {})
        for example in examples.values():
            value = example["value"]
            # An exchange without work would be held for that long.
            return {**value, "wait_ms": 0} if "wait_ms" in value else value
        return body

    # One project, and no condition that only a part of the chain could meet.
    @schemathesis.hook
    def map_headers(ctx, headers):
        left_out = {"punctual-project", "if-match", "if-none-match", "idempotency-key"}
        return {name: text for name, text in (headers or {}).items() if name.lower() not in left_out}
