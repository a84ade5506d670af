import type { Directory } from 'model-gateway/identity'

export interface OwnerId {
  readonly kind: 'user' | 'service_account'
  readonly id: string
}

/** The name of an owner; null if the directory does not have it. */
export function ownerName(owner: OwnerId, directory: Directory): string | null {
  return namesOf(directory).get(`${owner.kind}:${owner.id}`) ?? null
}

/** Cached, because lists look up each row. */
const names = new WeakMap<Directory, ReadonlyMap<string, string>>()

function namesOf(directory: Directory): ReadonlyMap<string, string> {
  const known = names.get(directory)
  if (known !== undefined) return known
  const made = new Map([
    ...directory.users.map(({ id, name }) => [`user:${id}`, name] as const),
    ...directory.serviceAccounts.map(({ id, name }) => [`service_account:${id}`, name] as const),
  ])
  names.set(directory, made)
  return made
}
