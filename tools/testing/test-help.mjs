// The help of `npm test`. Plain JavaScript for any Node from 20 on, because it works before the installation.

export const TEST_HELP = `Usage: npm test [-- FILE…] [-- OPTION…]

Runs all tests, or those of some files. The last line is "N passed, N failed"; the exit code is 0 if all tests passed, 1 if
one failed, 2 for wrong usage.

  npm test                                                  all files
  npm test -- agent/link/link.test.ts                       one file
  npm test -- bench/report.test.ts bench/run.test.ts       several files
  npm test -- agent/link                                    the files of a folder
  npm test -- agent/link/link.test.ts --grep='a name'       tests with a matching name; the pattern is a regular expression

Options:
  --grep=PATTERN      only tests with a matching name; may be repeated
  --thorough          also the single executables and broader variants (1 minute), as CI does
  --release           also images, packages, clients, SDKs, and more repetitions (8 more minutes); for a release
  --bail              do not start further files after a failure
  --jobs=N            number of parallel processes (cores + 3); files of unit and API tests share some
  --timeout=SECONDS   time limit of one file, or in a shared process of each test (300)
  --help              this text

To see what a test prints, run its file with Node itself: it prints every assertion and all output at once.

  npx node agent/link/link.test.ts
  TAP_GREP='a name' npx node agent/link/link.test.ts

The run prints a line per completed file, without cursor movement. The whole report is in .tap/report.tap.
`;
