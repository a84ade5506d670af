export { type CheckedConfig, checkConfig } from './check.ts'
export type {
  LoadedConfig,
  LoadedPlugin,
  LoadedProvider,
  ResolvedPlugins,
  ServerSettings,
} from './loaded.ts'
export { type ParsedConfig, parseConfig } from './parse.ts'
export { formatPath, formatProblems, hasErrors, type LocatedProblem } from './problems.ts'
