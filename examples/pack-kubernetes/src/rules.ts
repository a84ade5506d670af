import type { PackRule } from 'model-gateway/guardrail'

export const deleteNamespace = {
  id: 'delete-namespace',
  reasonCode: 'kubernetes.deletes_namespace',
  description: 'Deletes a namespace with everything that runs and is stored in it.',
  saferAction: 'Delete single objects by name, or ask a person to delete the namespace.',
} satisfies PackRule

export const deleteEverything = {
  id: 'delete-everything',
  reasonCode: 'kubernetes.deletes_everything',
  description: 'Deletes all objects of a kind, in a namespace or in all of them.',
  saferAction: 'Name the objects, or try it with --dry-run=server first.',
} satisfies PackRule

export const deleteStorage = {
  id: 'delete-storage',
  reasonCode: 'kubernetes.deletes_storage',
  description: 'Deletes volumes, or a custom resource definition with all its objects.',
  saferAction: 'Take a snapshot, and let a person delete the volume.',
} satisfies PackRule

export const forceDelete = {
  id: 'force-delete',
  reasonCode: 'kubernetes.forces_deletion',
  description:
    'Removes objects without waiting for them to end, so that two instances may run at once.',
  saferAction: 'Delete without --force and --grace-period=0, and wait.',
} satisfies PackRule

export const uninstallRelease = {
  id: 'uninstall-release',
  reasonCode: 'kubernetes.uninstalls_release',
  description: 'Uninstalls a release with all its objects.',
  saferAction: 'Roll back with helm rollback, or try it with --dry-run first.',
} satisfies PackRule

export const unreadable = {
  id: 'unreadable',
  reasonCode: 'kubernetes.unreadable',
  description: 'Uses kubectl or helm in a command that cannot be read with certainty.',
  saferAction: 'Run kubectl or helm by itself, with its arguments written out.',
} satisfies PackRule

/** In the order of lists and docs. */
export const rules: readonly PackRule[] = [
  deleteNamespace,
  deleteEverything,
  deleteStorage,
  forceDelete,
  uninstallRelease,
  unreadable,
]
