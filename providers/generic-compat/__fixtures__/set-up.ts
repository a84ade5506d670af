import { afterAll, beforeEach } from 'bun:test'
import { setUpProvider, startUpstream } from 'model-gateway/testing'
import plugin from '../index.ts'

interface Options extends Pick<Parameters<typeof setUpProvider>[0], 'settings'> {
  readonly config?: object
}

/** The provider and its upstream, for all tests of a file; the upstream begins each of them afresh. */
export async function setUpCompat(options: Options = {}) {
  const upstream = await startUpstream()
  const setUp = ({ config, ...more }: Options) =>
    setUpProvider({
      plugin,
      type: 'generic_compat',
      config: { base_url: `${upstream.url}/`, ...config },
      ...more,
    })
  const bench = await setUp(options)
  beforeEach(() => upstream.clear())
  afterAll(async () => {
    await bench.dispose()
    await upstream.stop()
  })
  return { upstream, bench, setUp }
}
