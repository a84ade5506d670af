import { Type } from '@sinclair/typebox'
import { isFields } from '../config/fields.ts'
import {
  CONTRACT,
  CommandSpecShape,
  capabilityNames,
  nameAt,
  type Plugin,
  ProviderTypeSpecShape,
  Shape,
} from '../plugin/index.ts'
import { schemaName } from '../storage/schema-name.ts'
import { shapeFault } from './shape.ts'

const { method, schema, text } = Shape

export const PointShape = Type.Object({ name: text(), cardinality: Shape.oneOf(['one', 'many']) })
const OnePoint = Type.Object(
  { name: text(), cardinality: Type.Literal('one') },
  { description: 'an extension point of cardinality "one"' },
)
const ManyPoint = Type.Object({ name: text(), cardinality: Type.Literal('many') })
const Used = Type.Union(
  [PointShape, Type.Object({ optional: OnePoint }), Type.Object({ named: ManyPoint })],
  {
    description:
      'an extension point, { optional: point } of cardinality "one", or { named: point } of cardinality "many": check the name of the import',
  },
)

const Manifest = Type.Object({
  id: Type.String({
    pattern: String.raw`^[a-z0-9-]+\.[a-z0-9-]+$`,
    description: 'a string of the form kind.name with a-z, 0-9 and hyphens only',
  }),
  version: text(),
  summary: text(),
  config: schema(),
  sections: Type.Optional(Type.Array(Type.Object({ name: text(), schema: schema() }))),
  providerTypes: Type.Optional(Type.Array(ProviderTypeSpecShape)),
  dialects: Type.Optional(Type.Array(text())),
  declares: Type.Optional(
    Type.Array(
      Type.Object({
        point: Type.Object({
          declared: Type.Object(
            { spec: schema() },
            { description: 'the rules for declared specs of an extension point' },
          ),
          name: text(),
          what: text(),
          key: text(),
        }),
        spec: Type.Object({}),
      }),
    ),
  ),
  commands: Type.Optional(Type.Array(CommandSpecShape)),
  needs: Type.Array(Shape.oneOf(capabilityNames)),
  early: Type.Optional(Type.Boolean()),
  uses: Type.Optional(Type.Record(Type.String(), Used)),
  provides: Type.Optional(Type.Array(OnePoint)),
  after: Type.Optional(Type.Array(text())),
  requires: Type.Optional(Type.Array(text())),
  migrations: Type.Optional(Type.Array(Type.Object({ name: text(), sql: text() }))),
  check: Type.Optional(method()),
  isolates: Type.Optional(method()),
})

/** Why a default export is not a plugin; undefined if it is one. */
function faultOf(value: unknown): string | undefined {
  if (!isFields(value)) return 'has no default export that is a plugin'
  const { manifest, setup } = value
  if (!isFields(manifest) || typeof setup !== 'function') {
    return 'has a default export without manifest and setup'
  }
  if (manifest.contract !== CONTRACT) {
    const named = JSON.stringify(manifest.contract) ?? 'undefined'
    return `was written for contract ${named}; this gateway supports contract ${CONTRACT}`
  }
  const fault = shapeFault(Manifest, manifest)
  if (fault !== undefined) return `has an invalid manifest: ${fault}`
  for (const { point, spec } of (value as unknown as Plugin).manifest.declares ?? []) {
    const fault = point.declared && shapeFault(point.declared.spec, spec)
    if (fault !== undefined) return `declares the ${point.what} "${nameAt(point, spec)}": ${fault}`
  }
  try {
    schemaName(String(manifest.id))
    return undefined
  } catch (error) {
    return `has an invalid id in its manifest: ${(error as Error).message}`
  }
}

/** Returns a default export as a plugin, or its fault. */
export function asPlugin(value: unknown): { plugin: Plugin } | { fault: string } {
  const fault = faultOf(value)
  return fault === undefined ? { plugin: value as Plugin } : { fault }
}
