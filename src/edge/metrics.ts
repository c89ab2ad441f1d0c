/** Metrics of HTTP requests. */
import { metrics } from "#src/base/metrics.ts";

export const requests = metrics.counter(
  "arbor_http_requests_total",
  "HTTP requests answered, by service, route as it is declared (or unmatched) and status.",
  ["service", "method", "route", "status"],
);
export const requestSeconds = metrics.histogram(
  "arbor_http_request_seconds",
  "From a request's arrival to the head of its answer, in seconds.",
  ["service", "method", "route"],
);
export const underWay = metrics.gauge("arbor_http_requests_under_way", "HTTP requests not answered yet.", ["service"]);
