/**
 * Who calls: what plugins import that tell callers apart, or ask who one is, as
 * `model-gateway/identity`.
 */
// From the headers of a request.
export { mayBeRevoked, presentedKey } from '../api-key.ts'
// Who it is, and who there is.
export type { Directory, Identity, KeyShown, Owner, Principal } from '../identity.ts'
// The point has the name of what it is for.
export { identity } from '../points.ts'
