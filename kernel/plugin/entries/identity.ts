/**
 * Exported as `model-gateway/identity`: for plugins that identify callers or need to know who owns
 * a key.
 */
// Reads keys from request headers.
export { mayBeRevoked, presentedKey } from '../api-key.ts'
// Callers and owners.
export type { Directory, Identity, KeyShown, Owner, Principal } from '../identity.ts'
// The extension point has the same name as its type.
export { identity } from '../points.ts'
