import { type Distribution, main } from '../../kernel/boot/cli.ts'
import { builtins, providedBy } from './builtins.ts'
import quickstart from './quickstart.yaml' with { type: 'text' }

/** A gateway whose config names a database does not load it. */
const startDatabase: Distribution['startDatabase'] = async (options) => {
  const { openEmbedded } = await import('../embedded-postgres/index.ts')
  return await openEmbedded(options)
}

/** Runs one `gateway` command; resolves to its exit code. */
export function runGateway(args: readonly string[]): Promise<number> {
  return main(args, { builtins, providedBy, quickstart, startDatabase })
}
