/** Run by `planted.test.ts` in a process of its own: every fault is meant to fail. */
import { describe } from 'bun:test'
import * as calls from './planted-calls.ts'
import * as guards from './planted-guards.ts'
import { plantedPlugins, soundPlugins } from './planted-plugins.ts'
import { plantedProviders, soundProviders } from './planted-providers.ts'
import { plantedSurfaces, soundSurfaces } from './planted-surfaces.ts'

for (const sound of [
  ...soundPlugins,
  ...guards.soundGuards,
  ...calls.soundCalls,
  ...soundProviders,
  ...soundSurfaces,
]) {
  describe('sound', sound)
}
for (const { fault, run } of [
  ...plantedPlugins,
  ...guards.plantedPacks,
  ...guards.plantedChecks,
  ...guards.plantedModes,
  ...calls.plantedSinks,
  ...calls.plantedModules,
  ...calls.plantedMiddlewares,
  ...plantedProviders,
  ...plantedSurfaces,
]) {
  describe(`planted: ${fault}`, run)
}
