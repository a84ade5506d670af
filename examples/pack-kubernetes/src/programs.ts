import type { PackRule } from 'model-gateway/guardrail'
import {
  deleteEverything,
  deleteNamespace,
  deleteStorage,
  forceDelete,
  uninstallRelease,
  unreadable,
} from './rules.ts'
import { helm, kubectl } from './tables.ts'
import { type Arguments, readArguments } from './words.ts'

const namespaces = new Set(['namespace', 'namespaces', 'ns'])
const storage = new Set([
  'persistentvolume',
  'persistentvolumes',
  'pv',
  'persistentvolumeclaim',
  'persistentvolumeclaims',
  'pvc',
  'customresourcedefinition',
  'customresourcedefinitions',
  'crd',
  'crds',
])

/** The rule that a call of the program matches, or `undefined`. */
export function judgeProgram(program: string, words: readonly string[]): PackRule | undefined {
  const table = program === 'helm' ? helm : kubectl
  const args = readArguments(words, table.valued)
  const [verb] = args.positional
  if (verb === undefined) return undefined
  if (!table.verbs.has(verb)) return unreadable
  return program === 'helm' ? judgeHelm(verb, args) : judgeKubectl(verb, args)
}

function judgeKubectl(verb: string, args: Arguments): PackRule | undefined {
  const [, ...targets] = args.positional
  if (verb !== 'delete' || isRehearsal(args.options.get('--dry-run'))) return undefined
  // The content of a file is not available here.
  const fromFile = ['-f', '--filename', '-k', '--kustomize'].some((name) => isOn(args, name))
  if (fromFile) return unreadable
  // `delete ns a b`, `delete ns/a`, `delete deploy,pvc x`
  const kinds = targets.flatMap((target, index) => {
    if (target.includes('/')) return target.split('/', 1)
    return index === 0 ? target.split(',') : []
  })
  return judgeDeletion(kinds, {
    all: isOn(args, '--all') || isOn(args, '-A') || isOn(args, '--all-namespaces'),
    force:
      isOn(args, '--force') || isOn(args, '--now') || args.options.get('--grace-period') === '0',
  })
}

/** The rule for deleting objects of these kinds, by command or by tool. */
export function judgeDeletion(
  kinds: readonly string[],
  { all, force }: { readonly all: boolean; readonly force: boolean },
): PackRule | undefined {
  // `deployments.v1.apps` is a kind with version and group.
  const plain = kinds.map((kind) => kind.toLowerCase().split('.', 1)[0] as string)
  if (plain.some((kind) => namespaces.has(kind))) return deleteNamespace
  if (plain.some((kind) => storage.has(kind))) return deleteStorage
  if (all || plain.includes('all')) return deleteEverything
  return force ? forceDelete : undefined
}

function judgeHelm(verb: string, { options }: Arguments): PackRule | undefined {
  const uninstalls = ['uninstall', 'un', 'delete', 'del'].includes(verb)
  return uninstalls && !isRehearsal(options.get('--dry-run')) ? uninstallRelease : undefined
}

function isOn({ options }: Arguments, name: string): boolean {
  const value = options.get(name)
  return value !== undefined && value !== 'false'
}

function isRehearsal(dryRun: string | true | undefined): boolean {
  return dryRun === true || dryRun === 'client' || dryRun === 'server' || dryRun === 'true'
}
