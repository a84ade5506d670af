import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Plugins as their authors write them: files in a separate folder. */
export interface PluginFolder {
  readonly folder: string
  /** Writes a plugin's file and gives its path. `setup` is the body of the function, `ctx` at hand. */
  plugin(name: string, parts: PluginText): string
  /** Writes a file with this text and returns its path. */
  file(name: string, text: string): string
  remove(): void
}

export interface PluginText {
  readonly setup?: string
  /** Source text of more members of the manifest. */
  readonly manifest?: string
  readonly id?: string
  readonly contract?: string
  /** Source text above the plugin. */
  readonly head?: string
}

const PLANES = [
  'accounting',
  'host',
  'http',
  'identity',
  'middleware',
  'observer',
  'provider',
  'surface',
  'wire',
] as const

/** The imports that a text needs: the thread of an isolated pack has only the modules that packs use. */
function imports(text: string): string {
  const named = [
    ...(text.includes('accountingSinks') ? ['accounting'] : []),
    ...(/\bmiddleware\b/.test(text) ? ['middleware'] : []),
  ]
  const planes = /\bkit\./.test(text) ? PLANES : named
  return `import * as admin from 'model-gateway/admin'
import * as guardrail from 'model-gateway/guardrail'
import * as core from 'model-gateway/plugin'
${planes.map((name) => `import * as ${name}Plane from 'model-gateway/${name}'`).join('\n')}
const kit = { ${['core', ...planes.map((name) => `${name}Plane`)].map((name) => `...${name}`).join(', ')} }
const { definePlugin, GatewayError, Type } = core
${planes.includes('accounting') ? 'const { accountingSinks } = accountingPlane' : ''}
${planes.includes('middleware') ? 'const { middleware } = middlewarePlane' : ''}
const { guardrailPacks } = guardrail`
}

export function pluginFolder(): PluginFolder {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-plugins-'))
  const file = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  return {
    folder,
    file,
    plugin: (
      name,
      { setup = '', manifest = '', id = `plugin.${name}`, contract = '1', head = '' },
    ) =>
      file(
        `${name}.ts`,
        `${imports([setup, manifest, head].join('\n'))}
${head}
export default definePlugin({
  manifest: {
    id: '${id}', version: '1.2.3', contract: ${contract}, summary: 'A test.',
    config: Type.Object({}), needs: [],
    ${manifest}
  },
  setup(ctx) {
    ${setup}
  },
})
`,
      ),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** A provider that needs no upstream, priced as the quick start prices it. */
export const simulated = {
  providers: [{ id: 'sim', type: 'simulator', pricing_provider_id: 'simulator' }],
  models: [{ id: 'm', routes: [{ provider: 'sim', upstream_model: 'simulator-1' }] }],
  pricing: {
    overrides: [
      {
        pricing_provider_id: 'simulator',
        model: 'simulator-1',
        input_usd_per_million: '1',
        output_usd_per_million: '3',
      },
    ],
  },
}

export const chat = { model: 'm', messages: [{ role: 'user', content: 'hello there' }] }
