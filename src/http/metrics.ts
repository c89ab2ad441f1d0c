/** Metrics of HTTP requests. */
import { metrics } from "#src/base/metrics.ts";

export const requests = metrics.counter(
  "arbor_http_requests_total",
  "Completed HTTP requests, by service, route pattern (or unmatched) and status.",
  ["service", "method", "route", "status"],
);
export const requestSeconds = metrics.histogram(
  "arbor_http_request_seconds",
  "Time from a request's arrival to its response headers, in seconds.",
  ["service", "method", "route"],
);
export const underWay = metrics.gauge("arbor_http_requests_under_way", "HTTP requests in progress.", ["service"]);
