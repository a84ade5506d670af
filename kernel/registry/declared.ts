import { type ExtensionPoint, nameAt, type Plugin } from '../plugin/index.ts'
import * as kernelPoints from '../plugin/points.ts'
import type { Provision } from './context.ts'

function specsOf(point: ExtensionPoint<unknown>, manifest: Plugin['manifest']): readonly object[] {
  const { declares = [] } = manifest
  return (
    point.declared?.specs?.(manifest) ??
    declares.filter((one) => one.point.name === point.name).map(({ spec }) => spec)
  )
}

/** Throws unless a plugin provides exactly what its manifest declares, once each. */
export function checkDeclared({ manifest }: Plugin, provisions: readonly Provision[]): void {
  const points = [
    ...Object.values(kernelPoints),
    ...[...(manifest.declares ?? []), ...provisions].map(({ point }) => point),
  ]
  for (const point of new Set(points)) {
    if (point.declared === undefined) continue
    const declared = specsOf(point, manifest).map((spec) => nameAt(point, spec))
    const provided = provisions
      .filter((one) => one.point.name === point.name)
      .map(({ implementation }) => nameAt(point, implementation as object))
    for (const name of declared) {
      if (provided.includes(name)) continue
      throw new Error(`declares the ${point.what} "${name}" but does not provide it`)
    }
    for (const [index, name] of provided.entries()) {
      if (!declared.includes(name)) {
        throw new Error(`provides "${name}", a ${point.what} that its manifest does not declare`)
      }
      if (provided.indexOf(name) !== index) {
        throw new Error(`provides the ${point.what} "${name}" twice`)
      }
    }
  }
}

/** Throws if a name is claimed twice, as one would hide the other. Adds to `claimed`. */
export function checkClaims(
  plugin: string,
  provisions: readonly Provision[],
  claimed: Map<string, string>,
): void {
  const own = new Map<string, string>()
  for (const { point, implementation } of provisions) {
    for (const claim of point.claims?.(implementation) ?? []) {
      const owner = claimed.get(claim) ?? own.get(claim)
      if (owner !== undefined) {
        throw new Error(`provides ${claim}, which plugin "${owner}" already provides`)
      }
      own.set(claim, plugin)
    }
  }
  for (const claim of own.keys()) claimed.set(claim, plugin)
}
