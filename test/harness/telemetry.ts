import { metrics, trace } from '@opentelemetry/api'

/** The telemetry part of a plugin's context; it goes nowhere. */
export const noTelemetry = { meter: metrics.getMeter('test'), tracer: trace.getTracer('test') }
