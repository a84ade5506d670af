import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/**
 * The module of an installed package, from the nearest `node_modules` of the given folders. Throws
 * if none has it. Bun's own resolution would install a missing package from the registry and run
 * it, so a typo would run foreign code.
 */
export function locatePackage(name: string, folders: readonly string[]): string {
  const [, packageName] = /^((?:@[^/\\]+\/)?[^/\\@.][^/\\]*)(?:\/|$)/.exec(name) ?? []
  if (packageName === undefined) throw new Error(`"${name}" is not a package name`)
  for (const start of folders) {
    for (let at = start; ; at = dirname(at)) {
      const installed = join(at, 'node_modules', packageName)
      if (existsSync(installed)) return moduleIn(installed, name, at)
      if (at === dirname(at)) break
    }
  }
  const places = [...new Set(folders)].join(' or ')
  throw new Error(`${packageName} is not installed: no node_modules of ${places} or above has it`)
}

function moduleIn(installed: string, name: string, from: string): string {
  const module = Bun.resolveSync(name, from)
  const inside = relative(realpathSync(installed), realpathSync(module))
  if (inside.startsWith('..')) throw new Error(`${installed} has no module ${name}`)
  return module
}
