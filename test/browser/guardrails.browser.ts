import { beforeAll, describe, expect, test } from 'bun:test'
import { adaKey, eventually } from '../harness/gateway.ts'
import { testDesk } from './harness.ts'
import { looksRight } from './look.ts'

/**
 * A denial ends the evaluation: 1, 2, 2 and 2 decisions for the commands, and one per tool call.
 */
const DECISIONS = 9

describe('guardrails', () => {
  const desk = testDesk({
    requests: 50,
    traffic: false,
    config: {
      mcp: {
        allow_private_networks: true,
        servers: [
          // Nothing listens on this port, because denied calls are not sent.
          { server_key: 'notion', display_name: 'Notes', server_url: 'http://127.0.0.1:9/mcp' },
          { server_key: 'postgres', display_name: 'Rows', server_url: 'http://127.0.0.1:9/mcp' },
        ],
      },
      guardrails: {
        default: { enabled: true, mode: 'deny', packs: ['core.filesystem', 'core.git'] },
        model_routes: { 'demo/simulator/simulator-1': { mode: 'audit' } },
        mcp_servers: {
          notion: { packs: ['saas.notes'] },
          postgres: { mode: 'audit', packs: ['database.sql'] },
        },
      },
    },
  })

  const countOfDecisions = async () => {
    const [row] = await desk.sql`
      select count(*)::int as n from guardrails.guardrail_decisions`
    return row?.n as number
  }

  beforeAll(async () => {
    const headers = { authorization: `Bearer ${adaKey}`, 'content-type': 'application/json' }
    const post = async (path: string, body: unknown, more = {}) => {
      const reply = await fetch(`${desk.gateway.url}${path}`, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify(body),
      })
      await reply.text()
      return reply
    }
    for (const command of ['rm -rf /srv', 'git push --force', 'ls', 'git status']) {
      await post('/api/v1/guardrails/evaluate', { tool_name: 'Bash', command })
    }
    const call = (server: string, name: string, args: object) =>
      post(
        `/mcp/${server}`,
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
        { accept: 'application/json, text/event-stream' },
      )
    expect((await call('notion', 'archive_page', { id: '1' })).status).toBe(403)
    expect((await call('postgres', 'execute_sql', { sql: 'drop table users' })).status).toBe(502)
    await eventually(async () => ((await countOfDecisions()) === DECISIONS ? true : undefined))
  })

  test('decisions match the database and can be filtered', async () => {
    const page = await desk.open('/guardrails')
    const [all] = await desk.sql`
      select count(*)::int as n, count(*) filter (where action = 'deny')::int as denied,
        count(*) filter (where action = 'audit')::int as audited
      from guardrails.guardrail_decisions`
    const table = page.getByRole('table', { name: 'Decisions' })
    await page.getByText(`1 – ${all?.n} of ${all?.n}`).waitFor()
    await page.getByRole('button', { name: `denied ${all?.denied}` }).waitFor()
    await page.getByRole('button', { name: `audited ${all?.audited}` }).waitFor()
    expect([all?.denied, all?.audited]).toEqual([3, 1])
    await looksRight(page, 'guardrails')
    await page.getByRole('button', { name: `denied ${all?.denied}` }).click()
    await page.waitForURL(/action=deny/)
    await page.getByText(`1 – ${all?.denied} of ${all?.denied}`).waitFor()
    await page.getByLabel('Policy').selectOption({ label: 'MCP server notion' })
    await page.getByText('1 – 1 of 1').waitFor()
    await table.getByRole('row').nth(1).getByText('saas.notes').waitFor()
    const [row] = await desk.sql`
      select * from guardrails.guardrail_decisions where scope = 'mcp_server:notion'`
    expect(await table.getByRole('row').count()).toBe(2)
    await table.getByRole('row').nth(1).focus()
    await page.keyboard.press('Enter')
    const sheet = page.getByRole('dialog', { name: 'saas.notes: denied' })
    await sheet.getByText(String(row?.content_sha256)).waitFor()
    await sheet.getByText(String(row?.request_id), { exact: true }).waitFor()
    await sheet.getByText(/^Safer alternative: /).waitFor()
    await looksRight(page, 'guardrail-decision')
    await sheet.getByRole('link', { name: 'Tool call' }).click()
    const call = page.getByRole('dialog', { name: 'Tool call: archive_page' })
    await call.getByText('policy denied').waitFor()
    await call.getByText('denied', { exact: true }).waitFor()
  })

  test('policies show their scope, packs and mode', async () => {
    const page = await desk.open('/guardrails/policies')
    const policies = page.getByRole('table', { name: 'Policies' })
    const rowOf = (scope: string) => policies.getByRole('row').filter({ hasText: scope })
    await rowOf('Default').getByText('core.filesystem, core.git').waitFor()
    await rowOf('Model route demo: simulator / simulator-1').getByText('audit only').waitFor()
    await rowOf('MCP server notion').getByText('saas.notes').waitFor()
    await looksRight(page, 'guardrail-policies')
    const pack = page.getByRole('listitem').filter({ hasText: 'core.git' }).first()
    await pack.getByRole('button').click()
    await pack.getByRole('cell', { name: 'push-force', exact: true }).first().waitFor()
    await rowOf('MCP server notion').getByRole('link', { name: 'Decisions' }).click()
    await page.waitForURL(/scope=mcp_server/)
    await page.getByText('1 – 1 of 1').waitFor()
  })

  test('a command is explained as a tree with the rule that denies it', async () => {
    const before = await countOfDecisions()
    const page = await desk.open('/guardrails/explain')
    await page
      .getByRole('textbox', { name: 'Command' })
      .fill('D=/srv; cd $D && echo "rm -rf $D" | sudo bash > log; echo $(hostname)')
    await page.keyboard.press('Control+Enter')
    const verdict = page.getByRole('region', { name: 'Verdict' })
    await verdict.getByText('core.filesystem / rm-recursive').waitFor()
    expect(await verdict.getByRole('heading').textContent()).toBe('denied')
    const tree = page.getByRole('list', { name: 'Command tree' })
    const line = (kind: string, text: string) =>
      tree.locator('li > div').filter({ hasText: kind }).filter({ hasText: text }).first()
    await line('assignment', 'D=/srv').waitFor()
    await line('list', '&&').waitFor()
    await line('pipeline', '|').waitFor()
    await line('word', '/srv').waitFor()
    await line('substitution', '$(hostname)').waitFor()
    await line('redirect', '> log').waitFor()
    await line('runs', 'sudo › bash').getByText('rm -rf').waitFor()
    await page
      .getByRole('table', { name: 'Evaluated commands' })
      .getByRole('row')
      .filter({ hasText: 'sudo › bash' })
      .waitFor()
    await looksRight(page, 'guardrail-explain')
    expect(await countOfDecisions()).toBe(before)
  })

  test('SQL, tool calls, texts, other scopes and selected packs are explained', async () => {
    const page = await desk.open('/guardrails/explain', { size: 'tablet' })
    const verdict = page.getByRole('region', { name: 'Verdict' })
    const explain = page.getByRole('button', { name: 'Explain' })
    await page.getByRole('button', { name: 'SQL' }).click()
    await page.getByRole('textbox', { name: 'SQL' }).fill('drop table users')
    await explain.click()
    await verdict.getByText('Policy Default, mode').waitFor()
    expect(await verdict.getByRole('heading').textContent()).toBe('allowed')
    await page.getByLabel('Evaluate with').selectOption({ label: 'Selected packs' })
    await page.getByLabel('database.sql').check()
    await explain.click()
    await verdict.getByText(/^database\.sql \//).waitFor()
    await looksRight(page, 'guardrail-explain-tablet')
    await page.getByRole('button', { name: 'Tool call' }).click()
    await page.getByLabel('Tool', { exact: true }).fill('archive_page')
    await page.getByLabel('Arguments (JSON)').fill('{"id":')
    expect(await explain.isDisabled()).toBe(true)
    await page.getByLabel('Arguments (JSON)').fill('{"id":"1"}')
    await page.getByLabel('MCP server').fill('notion')
    await page.getByLabel('Evaluate with').selectOption({ label: 'Policy: MCP server notion' })
    await explain.click()
    await verdict.getByText(/^saas\.notes \//).waitFor()
    expect(await verdict.getByRole('heading').textContent()).toBe('denied')
    await page.getByRole('button', { name: 'Text', exact: true }).click()
    await page.getByRole('textbox', { name: 'Text' }).fill('<img src=x onerror=alert(1)>')
    await explain.click()
    await page.getByText('No pack evaluates this phase (prompt)').waitFor()
  })
})

describe('without guardrails', () => {
  const desk = testDesk({ requests: 0 })

  test('every tab says what to do next', async () => {
    const page = await desk.open('/guardrails')
    await page.getByText('No policy is enabled. Set guardrails.default.enabled').waitFor()
    await looksRight(page, 'guardrails-empty')
    await page.getByRole('tab', { name: 'Policies' }).click()
    await page.getByText('Guardrails are off: no policy is enabled').waitFor()
    await looksRight(page, 'guardrail-policies-empty')
    await page.getByRole('tab', { name: 'Explain' }).click()
    await page.getByRole('textbox', { name: 'Command' }).fill('rm -rf /')
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.getByText('is not enabled, so it allows everything').waitFor()
  })
})
