provider { probe a(); };
provider shop probe b();
provider store { probe (int a); probe c; probe d(int a,, int b); prob e(); };
