import { main } from '../../kernel/boot/cli.ts'
import { builtins } from './builtins.ts'
import quickstart from './quickstart.yaml' with { type: 'text' }

const packWorker = new URL('./pack-worker.ts', import.meta.url)

/** Runs one `gateway` command; resolves to its exit code. */
export function runGateway(args: readonly string[]): Promise<number> {
  return main(args, { builtins, quickstart, packWorker })
}
