/** Exported as `model-gateway/plugin`, for every plugin; each name has an example. */
/**
 * TypeBox: `Type` makes schemas, which are `TSchema`s, and `Static` is what one describes.
 *
 * @example
 * const config: TSchema = Type.Object({ size: Type.Integer({ minimum: 1 }) })
 * type Config = Static<typeof config>
 */
export { type Static, type TSchema, Type } from '@sinclair/typebox'
export { type Command, type CommandSpec, UsageError } from '../command.ts'
export {
  ConfigError,
  type ConfigPath,
  type ConfigSection,
  configSection,
  DecimalString,
  formatPath,
  KEY_ALIASES,
  MAX_TIMER_MS,
  type Problem,
  SecretRef,
  strictObject,
} from '../config.ts'
export { defineErrors, type ErrorCode, type ErrorKind, errorKind, GatewayError } from '../errors.ts'
export { type ExtensionPoint, extensionPoint, named, optional, Shape } from '../extension-point.ts'
export type { HealthCheck } from '../health.ts'
export { inTime } from '../in-time.ts'
export { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
export {
  type Capabilities,
  type CapabilityName,
  type Clock,
  type Database,
  type Disposer,
  definePlugin,
  type Plugin,
  type PluginContext,
  type PluginManifest,
  type TransactionSql,
} from '../plugin.ts'
export { commands, healthChecks } from '../points.ts'
export { Secret } from '../secret.ts'
export { nextTurn } from '../turn.ts'
