// The help of `npm test`. Plain JavaScript for any Node from 20 on, because it works before the installation.

export const TEST_HELP = `Usage: npm test [-- FILE…] [-- OPTION…]

Runs all tests, or those of some files. The last line is "N passed, N failed"; the exit code is 0 when all tests passed, 1 when
one failed, 2 for wrong use.

  npm test                                                  all files
  npm test -- agent/link/link.test.ts                       one file
  npm test -- bench/report.test.ts tools/tap-report.test.ts several files
  npm test -- agent/link                                    the files of a folder
  npm test -- agent/link/link.test.ts --grep='a name'       tests of a file whose name matches; the pattern is a regular expression

Options:
  --grep=PATTERN      only the tests whose name matches; may be repeated
  --thorough          tests that broaden others as well (minutes), as CI does
  --bail              start no further file after a failure
  --jobs=N            files that run at the same time (cores + 2)
  --timeout=SECONDS   longest time of one file (120)
  --help              this text

To see what a test prints, run its file with Node itself: every assertion and all output appear as they come.

  npx node agent/link/link.test.ts
  TAP_GREP='a name' npx node agent/link/link.test.ts

Each file gets a line when it is done, without cursor movement. The whole report is in .tap/report.tap.
`;
