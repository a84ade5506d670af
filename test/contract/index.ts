/** The kits that plugin authors test with, as `model-gateway/testing`. */
export * from '../harness/upstream.ts'
export * from './bench.ts'
export { type GuardrailPackKit, type PackCase, testGuardrailPack } from './guardrail-pack.ts'
export { type ProviderKit, testProvider } from './provider.ts'
