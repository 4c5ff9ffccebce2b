provider shop { probe sale(int price); };
provider store { probe filled(int shelf); };
provider shop { probe refund(int price); }
