"""Reads what was exported, a JSON object a line with `path` and `body`, by OpenTelemetry's own messages. Prints a check a line."""

import base64
import json
import sys

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

MESSAGES = {
    "/v1/traces": ExportTraceServiceRequest,
    "/v1/metrics": ExportMetricsServiceRequest,
    "/v1/logs": ExportLogsServiceRequest,
}
IDS = {"traceId", "spanId", "parentSpanId"}


def check(name, held, detail=""):
    print(json.dumps({"name": name, "outcome": "held" if held else "failed", "detail": str(detail)[:800]}))


def with_bytes(value):
    """OTLP writes ids in hex, where protobuf's JSON has base64."""
    if isinstance(value, list):
        return [with_bytes(one) for one in value]
    if isinstance(value, dict):
        return {
            key: base64.b64encode(bytes.fromhex(one)).decode() if key in IDS and isinstance(one, str) else with_bytes(one)
            for key, one in value.items()
        }
    return value


seen = {path: 0 for path in MESSAGES}
errors, spans, metrics, resources = [], [], [], []
with open(sys.argv[1]) as file:
    for line in file:
        export = json.loads(line)
        try:
            message = ParseDict(with_bytes(json.loads(export["body"])), MESSAGES[export["path"]]())
        except Exception as error:
            errors.append(f"{export['path']}: {error}")
            continue
        seen[export["path"]] += 1
        for field in ("resource_spans", "resource_metrics", "resource_logs"):
            resources.extend(one.resource for one in getattr(message, field, []))
        spans.extend(s for r in getattr(message, "resource_spans", []) for o in r.scope_spans for s in o.spans)
        metrics.extend(m for r in getattr(message, "resource_metrics", []) for o in r.scope_metrics for m in o.metrics)

check("every field is one of the protocol's, of its type", not errors, errors[:3])
for path, times in seen.items():
    check(f"something came to {path}", times > 0)
check("each resource names its service", resources and all(any(a.key == "service.name" for a in r.attributes) for r in resources))
wrong = [s.name for s in spans if len(s.trace_id) != 16 or len(s.span_id) != 8 or not any(s.trace_id) or not any(s.span_id)]
check("each span has ids", spans and not wrong, wrong[:5])
wrong = [s.name for s in spans if len(s.parent_span_id) not in (0, 8) or any(len(x.trace_id) != 16 or len(x.span_id) != 8 for x in s.links)]
check("parents and links are ids", spans and not wrong, wrong[:5])
wrong = [s.name for s in spans if not 0 < s.start_time_unix_nano <= s.end_time_unix_nano]
check("each span ends after it began", spans and not wrong, wrong[:5])
wrong = [s.name for s in spans if s.name == "" or s.kind == 0 or len({a.key for a in s.attributes}) != len(s.attributes)]
check("each span has a name, a kind, and an attribute once", spans and not wrong, wrong[:5])
wrong = [m.name for m in metrics if m.WhichOneof("data") is None]
check("each metric has data", metrics and not wrong, wrong[:5])
wrong = [m.name for m in metrics if m.WhichOneof("data") in ("sum", "histogram") and getattr(m, m.WhichOneof("data")).aggregation_temporality == 0]
check("each sum and histogram says of which time it is", not wrong, wrong[:5])
wrong = [
    m.name
    for m in metrics
    if m.WhichOneof("data") == "histogram"
    for p in m.histogram.data_points
    if len(p.bucket_counts) != len(p.explicit_bounds) + 1 or sum(p.bucket_counts) != p.count
]
check("the buckets of each histogram add up", not wrong, wrong[:5])
