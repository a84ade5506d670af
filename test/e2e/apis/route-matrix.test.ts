import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Column, matrix, type Row } from './route-matrix.fixture.ts'
import { eyes } from './route-matrix-guard.fixture.ts'
import {
  differences,
  goodKey,
  observe,
  otherKey,
  poorKey,
  startWorld,
  type World,
} from './route-matrix-probe.fixture.ts'
import { routesOf } from './routes.fixture.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.stop())

const nameOf = ({ method, path }: Pick<Row, 'method' | 'path'>) => `${method} ${path}`

/**
 * Not of the data plane: the control plane has tests of its own; pages and health are for everybody. One
 * model is looked for in the list of them. Forms and sound are in media.test.ts, and what providers keep is
 * in provider-resources.test.ts.
 */
const ELSEWHERE = new RegExp(
  [
    String.raw`^\w+ /api/v1/`,
    String.raw`^GET /(?:healthz|readyz|docs(?:/[\w.-]+|/guide/\*)?|console(?:/\*)?)?$`,
    String.raw`^GET /(?:v1/models/\*|v1beta/models(?:/\*)?)$`,
    String.raw`^POST /v1/(?:audio/\w+|images/edits)$`,
    String.raw`^\w+ /v1/(?:files|batches|responses/:id)(?:/|$)`,
  ].join('|'),
)
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Routes of the data plane for which there is no row; `ALL` is each method that it answers. */
async function withoutRow(routes: readonly string[]): Promise<string[]> {
  const rows = new Set(matrix.map(nameOf))
  const missing: string[] = []
  for (const route of routes.filter((one) => !ELSEWHERE.test(one))) {
    const [method = '', path = ''] = route.split(' ')
    for (const each of method === 'ALL' ? METHODS : [method]) {
      if (rows.has(`${each} ${path}`)) continue
      const answered = await fetch(world.gateway.url + path, { method: each })
      if (method !== 'ALL' || answered.status !== 405) missing.push(`${each} ${path}`)
    }
  }
  return missing
}

describe('the matrix', () => {
  test('has a row for every route of the data plane, and no row without a route', async () => {
    const routes = routesOf(world.gateway.registry)
    expect(await withoutRow(routes)).toEqual([])
    const unknown = matrix.filter(
      (row) => !routes.includes(nameOf(row)) && !routes.includes(`ALL ${row.path}`),
    )
    expect(unknown).toEqual([])
    expect(new Set(matrix.map(nameOf)).size).toBe(matrix.length)
  })

  test('misses a route that it does not know', async () => {
    const more = ['POST /v1/images', 'GET /v1/models/:id', 'GET /healthz/details', 'POST /docs']
    expect(await withoutRow([...routesOf(world.gateway.registry), ...more])).toEqual(more)
  })

  test.each(matrix.map((row) => [nameOf(row), row] as const))('is true of %s', async (_, row) => {
    expect(await observe(row, world)).toEqual(row)
  })
})

/** A door behind which some callers are taken for others. */
async function throughDoor(taken: (key: string | undefined) => string | undefined, row: Row) {
  const door = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const headers = new Headers(request.headers)
      const key = taken(headers.get('authorization')?.replace('Bearer ', ''))
      if (key !== undefined) headers.set('authorization', `Bearer ${key}`)
      const body = request.method === 'POST' ? await request.text() : undefined
      const { method } = request
      return fetch(world.gateway.url + pathname, { method, headers, ...(body && { body }) })
    },
  })
  try {
    return await observe(row, world, { door: `http://127.0.0.1:${door.port}` })
  } finally {
    await door.stop(true)
  }
}

/** Rows of a table that never come to be, for requests whose ids begin with `lost`. */
async function withoutRows(table: string, row: Row): Promise<Row> {
  const { sql } = world.gateway
  await sql.unsafe(`
    create or replace function public.lose() returns trigger language plpgsql as $$
      begin
        if new.request_id like 'lost-%' then return null; end if;
        return new;
      end $$;
    create trigger lose before insert on ${table} for each row execute function public.lose()`)
  try {
    return await observe(row, world, { prefix: 'lost' })
  } finally {
    await sql.unsafe(`drop trigger lose on ${table}`)
  }
}

const knownKeys = [goodKey, otherKey, poorKey]
const faults: Readonly<Record<Column, (row: Row) => Promise<Row>>> = {
  authentication: (row) =>
    throughDoor((key) => (knownKeys.includes(key ?? '') ? key : goodKey), row),
  access: (row) => throughDoor((key) => (key === otherKey ? goodKey : key), row),
  admission: (row) => throughDoor((key) => (key === poorKey ? goodKey : key), row),
  async guard(row) {
    eyes.blind = true
    try {
      return await observe(row, world)
    } finally {
      eyes.blind = false
    }
  },
  settlement: (row) => withoutRows('accounting.usage_cost_events', row),
  record: (row) =>
    withoutRows(
      row.record === 'MCP audit' ? 'mcp_audit.mcp_tool_invocations' : 'request_log.request_logs',
      row,
    ),
}
const nothing: readonly string[] = ['none', 'any key', '']

describe.each(Object.entries(faults) as [Column, (typeof faults)[Column]][])(
  'a gateway without %s',
  (column, observeFault) => {
    const concerned = matrix.filter((row) => !nothing.includes(String(row[column])))
    test.each(concerned.map((row) => [nameOf(row), row] as const))(
      'is found out by the row of %s',
      async (_, row) => {
        expect(differences(await observeFault(row), row)).toEqual([column])
      },
    )
  },
)
