/**
 * URLs that try to lead where they should not. `{port}` is a port on this machine that must not be
 * reached. What becomes of each where private networks are allowed:
 * - `loopback`: it reaches this machine
 * - `private`: it may be connected to
 * - `never`: it is still refused
 */
export interface AddressTrick {
  readonly url: string
  readonly whenAllowed: 'loopback' | 'private' | 'never'
}

/** Names of the tricks, and what a hostile name server answers for them. */
const hostileNames: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.1'],
  'localhost.': ['127.0.0.1'],
  'loopback.test': ['127.0.0.1'],
  'loopback.test.': ['127.0.0.1'],
  'LOOPBACK.test': ['127.0.0.1'],
  'xn--lcalhost-54a.test': ['127.0.0.1'],
  '127.0.0.1.nip.test': ['127.0.0.1'],
  'mixed.test': ['93.184.216.34', '127.0.0.1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'mapped-public.test': ['::ffff:93.184.216.34', '::ffff:169.254.169.254'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'private.test': ['10.0.0.1'],
  'metadata.google.internal': ['169.254.169.254'],
  'metadata6.test': ['fd00:ec2::254'],
  'zone.test': ['fe80::1%eth0'],
  'garbage.test': ['not an address'],
  'unspecified.test': ['0.0.0.0'],
}

const loopback = [
  'http://127.0.0.1:{port}/',
  'http://127.1:{port}/',
  'http://127.0.1:{port}/',
  'http://2130706433:{port}/',
  'http://0x7f000001:{port}/',
  'http://0x7f.0x0.0x0.0x1:{port}/',
  'http://0X7F.1:{port}/',
  'http://0177.0.0.1:{port}/',
  'http://017700000001:{port}/',
  'http://0000000177.1:{port}/',
  'http://127.0.0.1.:{port}/',
  'http://%31%32%37.0.0.1:{port}/',
  'http://%6c%6f%63%61%6c%68%6f%73%74:{port}/',
  'http://localhost:{port}/',
  'http://LOCALHOST:{port}/',
  'http://localhost.:{port}/',
  'http://loopback.test:{port}/',
  'http://loopback.test.:{port}/',
  'http://LOOPBACK.test:{port}/',
  'http://xn--lcalhost-54a.test:{port}/',
  'http://127.0.0.1.nip.test:{port}/',
]

const privateOnes = [
  'http://[::ffff:127.0.0.1]:{port}/',
  'http://[::ffff:7f00:1]:{port}/',
  'http://[0:0:0:0:0:ffff:7f00:0001]:{port}/',
  'http://mapped.test:{port}/',
  'http://127.255.255.254/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.1.1/',
  'http://192.168.257/',
  'http://100.64.0.1/',
  'http://100.127.255.255/',
  'http://169.254.1.1/',
  'http://[::1]/',
  'http://[0000::0001]/',
  'http://[fc00::1]/',
  'http://[fd12:3456::1]/',
  'http://[fe80::1]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[::ffff:93.184.216.34]/',
  'http://[::7f00:1]/',
  'http://[::ffff:0:127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[64:ff9b::10.0.0.1]/',
  'http://[2002:7f00:1::]/',
  'http://[2002:c0a8:101::1]/',
  'http://private.test/',
  'http://mixed.test/',
  'http://nat64.test/',
]

const never = [
  'http://169.254.169.254/latest/meta-data/',
  'http://2852039166/',
  'http://0xa9fea9fe/',
  'http://0251.0376.0251.0376/',
  'http://169.254.43518/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[2002:a9fe:a9fe::]/',
  'http://169.254.170.2/',
  'http://169.254.170.23/',
  'http://100.100.100.200/',
  'http://168.63.129.16/',
  'http://[fd00:ec2::254]/',
  'http://[fd00:ec2::23]/',
  'http://[fd20:ce::254]/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://metadata6.test/',
  'http://mapped-public.test/',
  'http://0/',
  'http://0.0.0.0:{port}/',
  'http://[::]:{port}/',
  'http://[::ffff:0.0.0.0]:{port}/',
  'http://unspecified.test:{port}/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://240.0.0.1/',
  'http://192.0.2.1/',
  'http://198.18.0.1/',
  'http://[ff02::1]/',
  'http://[2001:db8::1]/',
  'http://[2001:0:53aa:64c::1]/',
  'http://[fec0::1]/',
  'http://[4000::1]/',
  'http://zone.test/',
  'http://garbage.test/',
  // Not what a URL of a server may look like.
  'http://user@127.0.0.1:{port}/',
  'http://user:pass@loopback.test:{port}/',
  'http://@127.0.0.1:{port}/',
  'http://93.184.216.34:80@127.0.0.1:{port}/',
  'http://loopback.test:{port}/#fragment',
  'http://loopback.test:{port}/#',
  'http:\\\\127.0.0.1:{port}\\',
  'http://127.0.0.1:{port}\t/',
  'http://127.0.0.1:{port}/\n',
  ' http://127.0.0.1:{port}/',
  'http:/127.0.0.1:{port}/',
  'http:127.0.0.1:{port}/',
  'http:///127.0.0.1:{port}/',
  '//127.0.0.1:{port}/',
  'http://①②⑦.⓪.⓪.①:{port}/',
  'http://127。0。0。1:{port}/',
  'http://ⓛocalhost:{port}/',
  'http://loop\u200bback.test:{port}/',
  'http://l\u00f6calhost.test:{port}/',
  'http://[::1%25lo]:{port}/',
  'http://[127.0.0.1]:{port}/',
  'http://256.256.256.256/',
  'http://127.0.0.1:0/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:{port}/',
  'ftp://127.0.0.1:{port}/',
  'data:text/plain,x',
  'unix:/var/run/docker.sock',
  'javascript:alert(1)',
  '',
]

export const addressTricks: readonly AddressTrick[] = [
  ...loopback.map((url) => ({ url, whenAllowed: 'loopback' as const })),
  ...privateOnes.map((url) => ({ url, whenAllowed: 'private' as const })),
  ...never.map((url) => ({ url, whenAllowed: 'never' as const })),
]

/** A name server that answers as the tricks need it, and knows nothing else. */
export async function resolveHostile(hostname: string): Promise<readonly string[]> {
  const found = hostileNames[hostname]
  if (found === undefined) throw new Error(`${hostname} has no address`)
  return found
}
