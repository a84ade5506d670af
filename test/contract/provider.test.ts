import { expect, test } from 'bun:test'

test('the kit catches a provider that breaks its rules', async () => {
  const run = Bun.spawn(
    [
      process.execPath,
      'test',
      '--timeout',
      '1000',
      './test/contract/__fixtures__/faulty-provider.ts',
    ],
    { cwd: `${import.meta.dir}/../..`, stdout: 'ignore', stderr: 'pipe' },
  )
  const report = await new Response(run.stderr).text()
  const failed = [
    ...report.matchAll(/^\(fail\) contract of the provider type faulty > (.*?)(?: \[|$)/gm),
  ]
  expect(failed.map(([, name]) => name).sort()).toEqual([
    'an abort before the reply reaches the upstream',
    'chat_completions: a buffered reply with its payload and usage',
    'chat_completions: a stream with usage, whatever the chunks',
    'chat_completions: no event after an abort or a return',
    'chat_completions: official clients can read what it makes',
    'disposing twice is harmless',
    'it sends the headers and the fields that the config adds',
    'its schemas refuse unknown keys',
    'malformed replies are GatewayErrors',
    'no secret comes back in an error',
    'responses: a buffered reply with its payload and usage',
    'responses: a stream with usage, whatever the chunks',
    'responses: no event after an abort or a return',
    'responses: official clients can read what it makes',
  ])
}, 30_000)
