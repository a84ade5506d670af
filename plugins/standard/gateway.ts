import { main } from '../../kernel/boot/cli.ts'
import { builtins } from './builtins.ts'
import quickstart from './quickstart.yaml' with { type: 'text' }

/** Runs one `gateway` command; resolves to its exit code. */
export function runGateway(args: readonly string[]): Promise<number> {
  return main(args, { builtins, quickstart })
}
