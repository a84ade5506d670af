import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { usd } from '../_shared/money.ts'
import { wholeTokens } from './amounts.ts'
import { formats } from './formats.ts'
import { readInvoice } from './invoice.ts'
import { spanOf } from './report.ts'

const folder = mkdtempSync(join(tmpdir(), 'invoice-formats-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ALL_DAYS = { from: undefined, until: undefined }
const fixture = (name: string) => join(import.meta.dir, '__fixtures__', name)

function written(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

/** The lines read from files, one for each model and period, fee, and separate charge. */
async function read(...paths: string[]) {
  const { files, billed, fees, apart } = await readInvoice(paths, undefined, ALL_DAYS)
  return {
    formats: files.map(({ format }) => format.id),
    rows: files.map(({ rows, passedOver }) => [rows, passedOver]),
    lines: [
      ...billed.map(({ period, model, tokens, tokensMissing, cost, requests, tiers }) =>
        [
          spanOf(period),
          model,
          tokensMissing
            ? '?'
            : [...tokens].map(([bucket, n]) => `${bucket} ${wholeTokens(n)}`).join(', '),
          ...(requests === undefined ? [] : [`${requests} calls`]),
          ...(cost === undefined ? [] : [`$${usd(cost)}`]),
          ...tiers,
        ].join(' | '),
      ),
      ...fees.map(
        ({ period, label, cost }) => `${spanOf(period)} | fee | ${label} | $${usd(cost)}`,
      ),
      ...apart.map(
        ({ period, label, cost }) => `${spanOf(period)} | apart | ${label} | $${usd(cost)}`,
      ),
    ],
  }
}

describe('files with all columns of the documentation', () => {
  test('OpenAI usage: cached input is part of the input; batch and flex are tiers', async () => {
    const csv = await read(fixture('openai-usage.csv'))
    expect(csv.formats).toEqual(['openai-usage'])
    expect(csv.lines).toEqual([
      '2026-03-01 | gpt-5-mini-2025-08-07 | input 54440, cache_read 5760, output 10846 | 12 calls | flex',
      '2026-03-03 | gpt-4o-2024-08-06 | input 38072, cache_read 8192, output 60000 | 8 calls',
    ])
    const pages = await read(fixture('openai-usage.json'))
    expect(pages.formats).toEqual(['openai-usage'])
    expect(pages.lines).toEqual([
      '2026-03-02 | gpt-5.6 | input 4000, cache_read 4000, cache_write 1000, output 500 | 3 calls',
    ])
  })

  test('OpenAI costs: line items are parsed, without floats', async () => {
    const csv = await read(fixture('openai-costs.csv'))
    expect(csv.formats).toEqual(['openai-costs'])
    expect(csv.lines).toEqual([
      '2026-03-01 | gpt-5-mini-2025-08-07 | ? | $0.034796',
      '2026-03-03 | gpt-4o-2024-08-06 | ? | $0.0952 | priority, long context',
      '2026-03-01 | fee | web search tool calls | $0.01',
    ])
    const pages = await read(fixture('openai-costs.json'))
    expect(pages.formats).toEqual(['openai-costs'])
    expect(pages.lines).toEqual([
      '2026-03-01 | gpt-5-mini-2025-08-07 | input 53440, cache_read 5760, output 10646 | $0.034796',
      '2026-03-01 | fee | whisper-1, audio | $0.006',
      '2026-03-01 | fee | assistants api | file search | $0.25',
    ])
  })

  test('Anthropic usage: both kinds of cache writes, long context, batch', async () => {
    const pages = await read(fixture('anthropic-usage.json'))
    expect(pages.formats).toEqual(['anthropic-usage'])
    expect(pages.lines).toEqual([
      '2026-03-01 | claude-sonnet-4-20250514 | input 251500, cache_read 200, cache_write 1500, output 600 | long context',
    ])
    const csv = await read(fixture('anthropic-usage.csv'))
    expect(csv.formats).toEqual(['anthropic-usage-csv'])
    expect(csv.lines).toEqual([
      '2026-03-01 | claude-haiku-4-5-20251001 | input 47081, cache_read 120, cache_write 15999, output 16982 | batch',
      '2026-03-02 | claude-opus-4-5-20251101 | input 300000, cache_read 0, cache_write 0, output 10 | long context, fast',
    ])
  })

  test('Anthropic costs: pages are in cents, the CSV in dollars', async () => {
    const pages = await read(fixture('anthropic-costs.json'))
    expect(pages.formats).toEqual(['anthropic-costs'])
    expect(pages.lines).toEqual([
      '2026-03-01 | claude-sonnet-4-20250514 | ? | $1.9896912 | batch',
      '2026-03-01 | fee | Web Search Usage | $0.1',
      '2026-03-01 | fee | Code Execution Usage | $0.05',
    ])
    const csv = await read(fixture('anthropic-costs.csv'))
    expect(csv.formats).toEqual(['anthropic-costs-csv'])
    expect(csv.lines).toEqual([
      '2026-03-01 | Claude Haiku 4.5 | ? | $0.15',
      '2026-03-02 | Claude Opus 4.5 | ? | $1.67',
      '2026-03-01 | fee | web_search | $0.3',
    ])
  })

  test('AWS CUR 2.0: thousands and millions of tokens, Marketplace, other services skipped', async () => {
    const { formats: found, rows, lines } = await read(fixture('aws-cur.csv'))
    expect([found, rows]).toEqual([['aws-cur'], [[12, 1]]])
    expect(lines).toEqual([
      '2026-03-01 | NovaPro | input 13000, output 2000, cache_read 1500 | $0.0171',
      '2026-03-01 | Nova2.0Lite | input 3000 | $0.00045 | flex',
      '2026-03-01 | openai.gpt-oss-120b | input 4000 | $0.0006',
      '2026-03-01 | Claude Sonnet 4.6 | input 123, cache_write 10, output 45 | $0.0011775 | global',
      '2026-03-01 | fee | USE1-Guardrail-ContentPolicyUnitsConsumed | $0.0015',
      '2026-03-01 to 2026-03-31 | apart | Tax of Amazon Bedrock | $0.42',
    ])
  })

  test.each(['aws-focus.csv', 'aws-focus-1.0.csv'])('%s: amounts with exponents', async (name) => {
    const { formats: found, rows, lines } = await read(fixture(name))
    expect([found, rows]).toEqual([['aws-focus'], [[6, 1]]])
    expect(lines).toEqual([
      '2026-03-01 | NovaPro | input 13000, output 2000 | $0.0168',
      '2026-03-01 | Claude Sonnet 4.6 | input 123 | $0.000369',
      '2026-03-01 | fee | USE1-CustomModel-Storage | $1.95',
      '2026-03-01 to 2026-03-31 | apart | Tax of Amazon Bedrock | $0.42',
    ])
  })

  test('Google Cloud billing export: SKUs of Vertex AI', async () => {
    const { formats: found, rows, lines } = await read(fixture('gcp-export.csv'))
    expect([found, rows]).toEqual([['gcp-export'], [[12, 1]]])
    expect(lines).toEqual([
      '2026-03-01 | Gemini 2.5 Flash | input 1065040, output 2400, cache_read 5000 | $0.325662',
      '2026-03-01 | Gemini 2.0 Flash | input 300 | $0.00009 | long',
      '2026-03-02 | Claude Sonnet 4.5 | cache_write 70 | $0.0002625',
      '2026-03-02 | Gemini 3.7 Flash | input 10 | $0.000027 | global priority',
      '2026-03-01 | fee | Gemini 3 Flash Text Input Caching Storage | $0.000012',
      '2026-03-01 | fee | LLM Grounding with Google Search tool - Predictions | $0.105',
      '2026-03-02 | apart | credits | $-0.000027',
      '2026-03-01 | apart | tax: Tax | $1.5',
    ])
  })

  test('Google Cloud cost table: after the lines of the invoice, for the whole month', async () => {
    const { formats: found, lines } = await read(fixture('gcp-cost-table.csv'))
    expect(found).toEqual(['gcp-cost-table'])
    expect(lines).toEqual([
      '2026-03-01 to 2026-03-31 | Gemini 2.5 Flash | input 1065040, output 2400 | $0.325512',
      '2026-03-01 to 2026-03-31 | apart | PROMOTION | $-0.05',
    ])
  })
})

test('usage and costs of one vendor are combined: tokens come from usage', async () => {
  const { lines } = await read(fixture('openai-usage.csv'), fixture('openai-costs.json'))
  expect(lines[0]).toBe(
    '2026-03-01 | gpt-5-mini-2025-08-07 | input 54440, cache_read 5760, output 10846 | 12 calls | $0.034796 | flex',
  )
})

test('gzip, tabs, semicolons, a byte order mark and CRLF are supported', async () => {
  const csv = readFileSync(fixture('openai-costs.csv'), 'utf8')
  const { lines } = await read(fixture('openai-costs.csv'))
  const others = {
    'costs.csv.gz': gzipSync(csv),
    // Two gzip members, as written by tools that append.
    'two.csv.gz': Buffer.concat([gzipSync(csv.slice(0, 300)), gzipSync(csv.slice(300))]),
    'costs.tsv': csv.replace(/"[^"]*"|,/g, (part) => (part === ',' ? '\t' : part.slice(1, -1))),
    'semicolons.csv': csv.replace(/"[^"]*"|,/g, (part) => (part === ',' ? ';' : part)),
    'windows.csv': `\ufeff${csv.replaceAll('\n', '\r\n')}`,
  }
  for (const [name, content] of Object.entries(others)) {
    expect([name, (await read(written(name, content))).lines]).toEqual([name, lines])
  }
})

test('pages one after the other, and in a list', async () => {
  const page = readFileSync(fixture('openai-costs.json'), 'utf8')
  for (const [name, text] of [
    ['joined.json', `${page}\n${page.replaceAll(/\s+/g, ' ')}`],
    ['list.json', `[${page},${page}]`],
  ] as const) {
    const { lines, rows } = await read(written(name, text))
    expect(rows).toEqual([[10, 0]])
    expect(lines[0]).toBe(
      '2026-03-01 | gpt-5-mini-2025-08-07 | input 106880, cache_read 11520, output 21292 | $0.069592',
    )
  }
})

test('an unknown format is refused with its columns and the known formats', async () => {
  const refused = async (name: string, content: string | Uint8Array, asked?: string) => {
    const format = formats.find(({ id }) => id === asked)
    const error = await readInvoice([written(name, content)], format, ALL_DAYS).catch((e) => e)
    return `${error.name} ${error.message.replace(folder, '')}`
  }
  const unknown = await refused('other.csv', 'Date,Slug,Usage,Requests\n2026-03-01,a,1,2\n')
  expect(unknown).toStartWith(
    'InvoiceError /other.csv: unknown file format; it has date, slug, usage, requests\nknown formats:\n',
  )
  for (const { id, title } of formats) expect(unknown).toContain(`  ${id}: ${title}`)
  expect(await refused('asked.csv', 'start_time,amount_value\n', 'openai-usage')).toContain(
    'the file is not openai-usage: the columns num_model_requests, input_tokens are missing; it has start_time, amount_value',
  )
  expect(await refused('page.json', '{"data": [{"a": 1, "results": [{"b": 2}]}]}')).toContain(
    'it has a, b',
  )
  expect(await refused('error.json', '{"error": {"message": "no"}}')).toContain(
    'it has error_message',
  )
  expect(await refused('empty.csv', '')).toContain('it is empty')
  expect(await refused('a.zip', 'PK\u0003\u0004')).toContain('ZIP')
  expect(await refused('a.parquet', 'PAR1xx')).toContain('Parquet')
  expect(await refused('cut.csv.gz', gzipSync('a,b\n'.repeat(9000)).subarray(0, 40))).toContain(
    '/cut.csv.gz: ',
  )
  expect(await refused('cut.json', '{"data": [{"a": 1')).toContain('JSON is incomplete')
})

test('an unreadable cell is reported with row and column', async () => {
  const costs = (rows: string) =>
    read(written('bad.csv', `start_time,amount_value,amount_currency,line_item\n${rows}`))
  await expect(costs('1772323200,1,usd,x\n1772323200,1.5e,usd,x\n')).rejects.toThrow(
    '/bad.csv, row 2: amount_value must be a number, got "1.5e"',
  )
  await expect(costs('yesterday,1,usd,x\n')).rejects.toThrow(
    'row 1: start_time must be a time such as 2026-03-01T00:00:00Z, or seconds since 1970, got "yesterday"',
  )
  await expect(costs('1772323200,1,eur,x\n')).rejects.toThrow(
    'row 1: amount_currency must be USD, got "eur"',
  )
  const table = readFileSync(fixture('gcp-cost-table.csv'), 'utf8')
  await expect(read(written('euro.csv', table.replaceAll('($)', '(€)')))).rejects.toThrow('got "€"')
  await expect(
    read(written('aud.csv', table.replace('Currency,USD', 'Currency,AUD'))),
  ).rejects.toThrow('got "AUD"')
})

test('files of two vendors, and files without a row for models, are refused', async () => {
  await expect(read(fixture('openai-costs.csv'), fixture('anthropic-costs.csv'))).rejects.toThrow(
    /anthropic-costs\.csv is from Anthropic, but .*openai-costs\.csv is from OpenAI/,
  )
  const [header = '', ...rows] = readFileSync(fixture('aws-cur.csv'), 'utf8').split('\n')
  const compute = rows.filter((row) => row.includes('BoxUsage'))
  await expect(read(written('ec2.csv', [header, ...compute].join('\n')))).rejects.toThrow(
    'none of the 1 rows is for models',
  )
})
