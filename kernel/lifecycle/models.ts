import { type KeyShown, presentedKey } from '../plugin/index.ts'
import { mayUse } from '../routing/access.ts'
import type { LifecycleServices } from './exchange.ts'

/** The gateway models that a key may ask for, whether or not a route can serve them right now. */
export function createModelList(
  services: Pick<LifecycleServices, 'identity' | 'accounting' | 'lease'>,
) {
  return async function listModels(shown: KeyShown) {
    const principal = await services.identity.authenticate(presentedKey(shown.header), shown)
    services.accounting.checkOwner(principal)
    const lease = services.lease()
    const { catalog, acceptedAt } = lease.runtime
    lease.release()
    const created = Math.floor(acceptedAt.getTime() / 1000)
    const data = [...catalog.models.values()]
      .filter((model) => mayUse(principal, model))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ id }) => ({ id, object: 'model', created, owned_by: 'gateway' }))
    return { object: 'list', data }
  }
}
