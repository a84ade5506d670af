import { adminModules, auditTrail } from 'model-gateway/admin'
import { definePlugin, strictObject, Type } from 'model-gateway/plugin'
import revisions from '../../migrations/config-editor/0001_revisions.sql' with { type: 'text' }
import type { ConfigHost } from './access.ts'
import { createRoutes } from './admin.ts'
import { createEditor } from './editor.ts'
import { createStore } from './store.ts'

/**
 * Lets admins add providers and models, which it stores in the managed file next to the config
 * file. The program that reads the config files sets the access to them in `host`.
 */
export const configEditor = (host: ConfigHost) =>
  definePlugin({
    manifest: {
      id: 'plugin.config-editor',
      version: '0.1.0',
      contract: 1,
      summary: 'Adds providers and models to the managed config file.',
      config: strictObject({
        read_only: Type.Boolean({
          default: false,
          description: 'true: changes are checked and shown as YAML to copy, but not written',
        }),
        variables: Type.Array(
          Type.String({
            pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
            description: 'write the names of environment variables',
          }),
          {
            default: [],
            description:
              'Environment variables that admins may use as the key of a provider at any address',
          },
        ),
      }),
      needs: ['database', 'inspection'],
      uses: { audit: auditTrail },
      requires: ['plugin.audit-log'],
      migrations: [{ name: '0001_revisions', sql: revisions }],
    },
    setup(ctx) {
      const { surfaces } = ctx.inspection
      const store = createStore(ctx.database, ctx.uses.audit)
      const { read_only: readOnly, variables } = ctx.config
      const editor = createEditor({ host, readOnly, variables, store, log: ctx.log })
      ctx.provide(adminModules, {
        id: 'config-editor',
        routes: createRoutes({ host, editor, store, surfaces, variables }),
      })
    },
  })
