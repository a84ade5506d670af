import { mcpObservers } from 'model-gateway/mcp'
import { observers } from 'model-gateway/observer'
import { definePlugin, Type } from 'model-gateway/plugin'
import { checkEndpoints, telemetryKeys } from './config.ts'
import { exportSettings } from './export-environment.ts'
import { startTelemetry } from './otel.ts'

/** Exports traces and metrics to the configured endpoints. */
export default definePlugin({
  manifest: {
    id: 'plugin.telemetry-otlp',
    version: '0.1.0',
    contract: 1,
    summary: 'Exports traces and metrics to an OpenTelemetry collector.',
    config: Type.Object({}, { additionalProperties: false }),
    sections: [telemetryKeys],
    needs: ['start'],
    // A meter that a plugin gets before export starts has no effect.
    early: true,
    check: checkEndpoints,
  },
  async setup(ctx) {
    const { config, serves, version } = ctx.start
    const settings = exportSettings(config.section(telemetryKeys), version, process.env)
    if (!serves || settings === undefined) return
    const telemetry = await startTelemetry(settings, ctx.log)
    for (const observer of telemetry.observers) ctx.provide(observers, observer)
    for (const observer of telemetry.mcpObservers) ctx.provide(mcpObservers, observer)
    return telemetry.stop
  },
})
