import type { KeyCaller, SessionCaller } from 'model-gateway/admin'

/** The owner whose requests and spend a caller may see without being an admin. */
export function callerOwner(caller: SessionCaller | KeyCaller) {
  if (caller.kind === 'session') return { kind: 'user', id: caller.userId } as const
  const { owner } = caller.principal
  return owner.kind === 'user'
    ? ({ kind: 'user', id: owner.userId } as const)
    : ({ kind: 'service_account', id: owner.serviceAccountId } as const)
}
