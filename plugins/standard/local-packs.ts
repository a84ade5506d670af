import { loadPostgresParser } from '../../guardrail-packs/_shared/sql.ts'
import { cloudProviderA } from '../../guardrail-packs/cloud-provider-a/index.ts'
import { cloudProviderB } from '../../guardrail-packs/cloud-provider-b/index.ts'
import { coreFilesystem } from '../../guardrail-packs/core-filesystem/index.ts'
import { coreGit } from '../../guardrail-packs/core-git/index.ts'
import { coreShell } from '../../guardrail-packs/core-shell/index.ts'
import { databaseSql } from '../../guardrail-packs/database-sql/index.ts'
import { saasNotes } from '../../guardrail-packs/saas-notes/index.ts'
import type { LocalPacks } from '../guardrails/guard-command.ts'

/** The built-in packs, for judging without a gateway. */
export const localPacks: LocalPacks = {
  packs: [
    coreShell,
    coreGit,
    coreFilesystem,
    databaseSql,
    cloudProviderA,
    cloudProviderB,
    saasNotes,
  ],
  prepare: loadPostgresParser,
}
