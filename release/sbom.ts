/**
 * `bun run sbom`: writes dist/model-gateway.cdx.json, the list of all software in a release, in the
 * format CycloneDX. The parts are those of THIRD_PARTY_NOTICES.
 */
import { join, resolve } from 'node:path'
import { VERSION } from '../kernel/boot/assemble.ts'
import { type Part, parts } from './notices.ts'

const FILE = resolve(import.meta.dir, '../dist/model-gateway.cdx.json')
const EXPRESSION = /^[\w.-]+(?: (?:AND|OR) [\w.-]+)*$/

/** The document. Two calls with the same parts return the same, without a time or a random id. */
export function sbomOf(all: readonly Part[]) {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: component({ name: 'model-gateway', version: VERSION, licence: 'Apache-2.0' }),
    },
    components: all.map((part) => ({
      ...component(part),
      properties: part.places.map((value) => ({ name: 'model-gateway:place', value })),
    })),
  }
}

function component({
  name,
  version,
  licence,
  purl,
}: Pick<Part, 'name' | 'version' | 'licence' | 'purl'>) {
  const [, group, short = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? []
  return {
    type: purl === undefined ? 'application' : 'library',
    'bom-ref': `${name}@${version}`,
    ...(group !== undefined && { group }),
    name: short,
    version,
    ...(purl !== undefined && { purl }),
    licenses: [EXPRESSION.test(licence) ? { expression: licence } : { license: { name: licence } }],
  }
}

if (import.meta.main) {
  await Bun.write(FILE, `${JSON.stringify(sbomOf(await parts()), undefined, 2)}\n`)
  console.log(join('dist', 'model-gateway.cdx.json'))
}
