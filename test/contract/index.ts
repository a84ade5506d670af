/** The kits that plugin authors test with, as `model-gateway/testing`. */
export * from '../harness/upstream.ts'
export { type AccountingSinkKit, settledCall, testAccountingSink } from './accounting-sink.ts'
export { type AdminCase, type AdminModuleKit, testAdminModule } from './admin-module.ts'
export * from './bench.ts'
export {
  type CostOptions,
  cpuPerCall,
  middlewareCost,
  type ProviderCostKit,
  packCost,
  providerCost,
} from './cost.ts'
export { type Fault, withFault } from './faults.ts'
export { type GoldenKit, testGoldenExchanges } from './golden.ts'
export { type GuardrailPackKit, type PackCase, testGuardrailPack } from './guardrail-pack.ts'
export { type ManagedCheckKit, testManagedCheck } from './managed-check.ts'
export { type McpAuthModeKit, testMcpAuthMode } from './mcp-auth-mode.ts'
export { type MiddlewareCase, type MiddlewareKit, testMiddleware } from './middleware.ts'
export { type PluginKit, testPlugin } from './plugin.ts'
export {
  type PluginBench,
  type PluginBenchOptions,
  setUpPlugin,
} from './plugin-bench.ts'
export { type ProviderKit, testProvider } from './provider.ts'
export { randomPieces, rechunked, seededRandom } from './rechunk.ts'
export { type SurfaceKit, type SurfaceSample, testSurface } from './surface.ts'
export type { ConversionSample } from './surface-conversion.ts'
export type { DialectSample } from './surface-dialect.ts'
