export { contain, DeadlineError } from './contain.ts'
export { createInstances, effectiveCapabilities, type Instances } from './instances.ts'
export { orderPlugins } from './order.ts'
export {
  type KernelCapabilities,
  PluginError,
  type Registry,
  type StartedPlugin,
  startPlugins,
} from './registry.ts'
export { type Builtins, resolvePlugins } from './resolve.ts'
export { registerSelfReference } from './self-reference.ts'
