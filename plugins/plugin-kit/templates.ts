import * as sharedReadme from './templates/_shared/README.md' with { type: 'text' }
import * as accountingSinkGatewayExampleYaml from './templates/accounting-sink/gateway.example.yaml' with {
  type: 'text',
}
import * as accountingSinkREADMEMd from './templates/accounting-sink/README.md' with {
  type: 'text',
}
import * as accountingSinkSrcIndexTs from './templates/accounting-sink/src/index.ts' with {
  type: 'text',
}
import * as accountingSinkSrcSinkTs from './templates/accounting-sink/src/sink.ts' with {
  type: 'text',
}
import * as accountingSinkTests from './templates/accounting-sink/testing.ts' with { type: 'text' }
import * as adminGatewayExampleYaml from './templates/admin/gateway.example.yaml' with {
  type: 'text',
}
import * as adminREADMEMd from './templates/admin/README.md' with { type: 'text' }
import * as adminSrcAdminTs from './templates/admin/src/admin.ts' with { type: 'text' }
import * as adminSrcIndexTs from './templates/admin/src/index.ts' with { type: 'text' }
import * as adminSrcStoreTs from './templates/admin/src/store.ts' with { type: 'text' }
import * as adminSrcTablesTs from './templates/admin/src/tables.ts' with { type: 'text' }
import * as adminTests from './templates/admin/testing.ts' with { type: 'text' }
import * as managedCheckGatewayExampleYaml from './templates/managed-check/gateway.example.yaml' with {
  type: 'text',
}
import * as managedCheckREADMEMd from './templates/managed-check/README.md' with { type: 'text' }
import * as managedCheckSrcCheckTs from './templates/managed-check/src/check.ts' with {
  type: 'text',
}
import * as managedCheckSrcIndexTs from './templates/managed-check/src/index.ts' with {
  type: 'text',
}
import * as managedCheckStandInTs from './templates/managed-check/stand-in.ts' with { type: 'text' }
import * as managedCheckTests from './templates/managed-check/testing.ts' with { type: 'text' }
import * as mcpAuthModeGatewayExampleYaml from './templates/mcp-auth-mode/gateway.example.yaml' with {
  type: 'text',
}
import * as mcpAuthModeREADMEMd from './templates/mcp-auth-mode/README.md' with { type: 'text' }
import * as mcpAuthModeSrcIndexTs from './templates/mcp-auth-mode/src/index.ts' with {
  type: 'text',
}
import * as mcpAuthModeStandInTs from './templates/mcp-auth-mode/stand-in.ts' with { type: 'text' }
import * as mcpAuthModeTests from './templates/mcp-auth-mode/testing.ts' with { type: 'text' }
import * as middlewareGatewayExampleYaml from './templates/middleware/gateway.example.yaml' with {
  type: 'text',
}
import * as middlewareREADMEMd from './templates/middleware/README.md' with { type: 'text' }
import * as middlewareSrcCapTs from './templates/middleware/src/cap.ts' with { type: 'text' }
import * as middlewareSrcIndexTs from './templates/middleware/src/index.ts' with { type: 'text' }
import * as middlewareTests from './templates/middleware/testing.ts' with { type: 'text' }
import * as packCasesYaml from './templates/pack/cases.yaml' with { type: 'text' }
import * as packGatewayExampleYaml from './templates/pack/gateway.example.yaml' with {
  type: 'text',
}
import * as packREADMEMd from './templates/pack/README.md' with { type: 'text' }
import * as packSrcIndexTs from './templates/pack/src/index.ts' with { type: 'text' }
import * as packSrcPackTs from './templates/pack/src/pack.ts' with { type: 'text' }
import * as packTests from './templates/pack/testing.ts' with { type: 'text' }
import * as providerGatewayExampleYaml from './templates/provider/gateway.example.yaml' with {
  type: 'text',
}
import * as providerGoldenChatJson from './templates/provider/golden/chat.json' with {
  type: 'text',
}
import * as providerGoldenRefusedJson from './templates/provider/golden/refused.json' with {
  type: 'text',
}
import * as providerGoldenStreamJson from './templates/provider/golden/stream.json' with {
  type: 'text',
}
import * as providerREADMEMd from './templates/provider/README.md' with { type: 'text' }
import * as providerSrcConvertTs from './templates/provider/src/convert.ts' with { type: 'text' }
import * as providerSrcIndexTs from './templates/provider/src/index.ts' with { type: 'text' }
import * as providerSrcStreamTs from './templates/provider/src/stream.ts' with { type: 'text' }
import * as providerStandInTs from './templates/provider/stand-in.ts' with { type: 'text' }
import * as providerTests from './templates/provider/testing.ts' with { type: 'text' }

export const kinds = [
  'provider',
  'pack',
  'managed-check',
  'mcp-auth-mode',
  'accounting-sink',
  'admin',
  'middleware',
] as const
export type Kind = (typeof kinds)[number]

/** The files of each kind, as they lie in `templates/`: text, so that the binary has them too. */
export const templates: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  provider: {
    'README.md': textOf(providerREADMEMd),
    'gateway.example.yaml': textOf(providerGatewayExampleYaml),
    'golden/chat.json': textOf(providerGoldenChatJson),
    'golden/refused.json': textOf(providerGoldenRefusedJson),
    'golden/stream.json': textOf(providerGoldenStreamJson),
    'index.test.ts': textOf(providerTests),
    'src/convert.ts': textOf(providerSrcConvertTs),
    'src/index.ts': textOf(providerSrcIndexTs),
    'src/stream.ts': textOf(providerSrcStreamTs),
    'stand-in.ts': textOf(providerStandInTs),
  },
  pack: {
    'README.md': textOf(packREADMEMd),
    'cases.yaml': textOf(packCasesYaml),
    'gateway.example.yaml': textOf(packGatewayExampleYaml),
    'index.test.ts': textOf(packTests),
    'src/index.ts': textOf(packSrcIndexTs),
    'src/pack.ts': textOf(packSrcPackTs),
  },
  'managed-check': {
    'README.md': textOf(managedCheckREADMEMd),
    'gateway.example.yaml': textOf(managedCheckGatewayExampleYaml),
    'index.test.ts': textOf(managedCheckTests),
    'src/check.ts': textOf(managedCheckSrcCheckTs),
    'src/index.ts': textOf(managedCheckSrcIndexTs),
    'stand-in.ts': textOf(managedCheckStandInTs),
  },
  'mcp-auth-mode': {
    'README.md': textOf(mcpAuthModeREADMEMd),
    'gateway.example.yaml': textOf(mcpAuthModeGatewayExampleYaml),
    'index.test.ts': textOf(mcpAuthModeTests),
    'src/index.ts': textOf(mcpAuthModeSrcIndexTs),
    'stand-in.ts': textOf(mcpAuthModeStandInTs),
  },
  'accounting-sink': {
    'README.md': textOf(accountingSinkREADMEMd),
    'gateway.example.yaml': textOf(accountingSinkGatewayExampleYaml),
    'index.test.ts': textOf(accountingSinkTests),
    'src/index.ts': textOf(accountingSinkSrcIndexTs),
    'src/sink.ts': textOf(accountingSinkSrcSinkTs),
  },
  admin: {
    'README.md': textOf(adminREADMEMd),
    'gateway.example.yaml': textOf(adminGatewayExampleYaml),
    'index.test.ts': textOf(adminTests),
    'src/admin.ts': textOf(adminSrcAdminTs),
    'src/index.ts': textOf(adminSrcIndexTs),
    'src/store.ts': textOf(adminSrcStoreTs),
    'src/tables.ts': textOf(adminSrcTablesTs),
  },
  middleware: {
    'README.md': textOf(middlewareREADMEMd),
    'gateway.example.yaml': textOf(middlewareGatewayExampleYaml),
    'index.test.ts': textOf(middlewareTests),
    'src/cap.ts': textOf(middlewareSrcCapTs),
    'src/index.ts': textOf(middlewareSrcIndexTs),
  },
}

/** Closes the README of every kind. */
export const readmeEnd = textOf(sharedReadme)

/** A module that is imported as text; to the compiler it is what its extension says. */
function textOf(module: object): string {
  const { default: text } = module as { default?: unknown }
  if (typeof text !== 'string') throw new Error('a template was not loaded as text')
  return text
}
