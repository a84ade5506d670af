import type { Plugin } from 'model-gateway/plugin'
import genericCompat from '../../providers/generic-compat/index.ts'
import simulator from '../../providers/simulator/index.ts'
import accounting from '../accounting/index.ts'
import configMirror from '../config-mirror/index.ts'
import identity from '../identity/index.ts'
import pricingCatalog from '../pricing-catalog/index.ts'
import requestLog from '../request-log/index.ts'

/** What `builtin:NAME` in a config names. */
// biome-ignore lint/suspicious/noExplicitAny: each plugin has its own config and capabilities
export const builtins: Readonly<Record<string, Plugin<any, any>>> = {
  accounting,
  'config-mirror': configMirror,
  'generic-compat': genericCompat,
  identity,
  'pricing-catalog': pricingCatalog,
  'request-log': requestLog,
  simulator,
}
