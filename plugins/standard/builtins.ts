import type { Plugin } from 'model-gateway/plugin'
import cloudProviderA from '../../guardrail-packs/cloud-provider-a/index.ts'
import cloudProviderB from '../../guardrail-packs/cloud-provider-b/index.ts'
import coreFilesystem from '../../guardrail-packs/core-filesystem/index.ts'
import coreGit from '../../guardrail-packs/core-git/index.ts'
import coreShell from '../../guardrail-packs/core-shell/index.ts'
import databaseSql from '../../guardrail-packs/database-sql/index.ts'
import saasNotes from '../../guardrail-packs/saas-notes/index.ts'
import anthropic from '../../providers/anthropic/index.ts'
import azureOpenai from '../../providers/azure-openai/index.ts'
import cloudAMl from '../../providers/cloud-a-ml/index.ts'
import cloudAServerlessCompat from '../../providers/cloud-a-serverless-compat/index.ts'
import cloudBMl from '../../providers/cloud-b-ml/index.ts'
import gemini from '../../providers/gemini/index.ts'
import genericCompat from '../../providers/generic-compat/index.ts'
import simulator from '../../providers/simulator/index.ts'
import accounting from '../accounting/index.ts'
import adminApi from '../admin-api/index.ts'
import affinity from '../affinity/index.ts'
import apiAudio from '../api-audio/index.ts'
import apiChat from '../api-chat/index.ts'
import apiCompletions from '../api-completions/index.ts'
import apiEmbeddings from '../api-embeddings/index.ts'
import apiGoogle from '../api-google/index.ts'
import apiImages from '../api-images/index.ts'
import apiMessages from '../api-messages/index.ts'
import apiModels from '../api-models/index.ts'
import apiModerations from '../api-moderations/index.ts'
import apiRerank from '../api-rerank/index.ts'
import apiResponses from '../api-responses/index.ts'
import auditLog from '../audit-log/index.ts'
import cloudASanitizer from '../checks/cloud-a-sanitizer/index.ts'
import cloudBGuardrail from '../checks/cloud-b-guardrail/index.ts'
import type { ConfigHost } from '../config-editor/access.ts'
import { configEditor } from '../config-editor/index.ts'
import configMirror from '../config-mirror/index.ts'
import consolePages from '../console/index.ts'
import demoData from '../demo-data/index.ts'
import docsSite from '../docs-site/index.ts'
import guardrails from '../guardrails/index.ts'
import identity from '../identity/index.ts'
import inspect from '../inspect/index.ts'
import invoiceCheck from '../invoice-check/index.ts'
import mcpAudit from '../mcp-audit/index.ts'
import mcpGatewayBearerToken from '../mcp-auth/gateway-bearer-token/index.ts'
import mcpGatewayStaticHeader from '../mcp-auth/gateway-static-header/index.ts'
import mcpNone from '../mcp-auth/none/index.ts'
import mcpOauthObo from '../mcp-auth/oauth-obo/index.ts'
import mcpUserPassthrough from '../mcp-auth/user-passthrough/index.ts'
import mcpProxy from '../mcp-proxy/index.ts'
import mcpRegistry from '../mcp-registry/index.ts'
import observability from '../observability/index.ts'
import { packIsolation } from '../pack-isolation/index.ts'
import pluginKit from '../plugin-kit/index.ts'
import pricingCatalog from '../pricing-catalog/index.ts'
import providerResources from '../provider-resources/index.ts'
import requestLog from '../request-log/index.ts'
import telemetryOtlp from '../telemetry-otlp/index.ts'
import uploads from '../uploads/index.ts'

/** `gateway serve` sets the access to the config files here. */
export const configHost: ConfigHost = {}

/** The plugins by their name in `builtin:NAME`. */
// biome-ignore lint/suspicious/noExplicitAny: each plugin has its own config and capabilities
export const builtins: Readonly<Record<string, Plugin<any, any>>> = {
  accounting,
  affinity,
  anthropic,
  'admin-api': adminApi,
  'api-audio': apiAudio,
  'api-chat': apiChat,
  'api-completions': apiCompletions,
  'api-embeddings': apiEmbeddings,
  'api-google': apiGoogle,
  'api-images': apiImages,
  'api-messages': apiMessages,
  'api-models': apiModels,
  'api-moderations': apiModerations,
  'api-rerank': apiRerank,
  'api-responses': apiResponses,
  'audit-log': auditLog,
  'azure-openai': azureOpenai,
  'cloud-a-ml': cloudAMl,
  'cloud-a-sanitizer': cloudASanitizer,
  'cloud-a-serverless-compat': cloudAServerlessCompat,
  'cloud-b-guardrail': cloudBGuardrail,
  'cloud-b-ml': cloudBMl,
  'cloud-provider-a': cloudProviderA,
  'cloud-provider-b': cloudProviderB,
  'config-editor': configEditor(configHost),
  'config-mirror': configMirror,
  console: consolePages,
  'demo-data': demoData,
  'docs-site': docsSite,
  'core-filesystem': coreFilesystem,
  'core-git': coreGit,
  'core-shell': coreShell,
  'database-sql': databaseSql,
  'gateway-bearer-token': mcpGatewayBearerToken,
  'gateway-static-header': mcpGatewayStaticHeader,
  gemini,
  'generic-compat': genericCompat,
  guardrails,
  identity,
  inspect,
  'invoice-check': invoiceCheck,
  'mcp-audit': mcpAudit,
  'mcp-proxy': mcpProxy,
  'mcp-registry': mcpRegistry,
  none: mcpNone,
  'oauth-obo': mcpOauthObo,
  observability,
  'pack-isolation': packIsolation(new URL('./pack-worker.ts', import.meta.url)),
  'plugin-kit': pluginKit,
  'pricing-catalog': pricingCatalog,
  'provider-resources': providerResources,
  'request-log': requestLog,
  'saas-notes': saasNotes,
  simulator,
  'telemetry-otlp': telemetryOtlp,
  uploads,
  'user-passthrough': mcpUserPassthrough,
}

/** The built-in plugins by extension point, for messages about a missing one. */
export const providedBy = {
  accounting: 'builtin:accounting',
  exchange_recorders: 'builtin:request-log',
  identity: 'builtin:identity',
}
